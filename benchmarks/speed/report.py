"""Tables from results: the one place where numbers become text."""

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.speed.aims import AIMS, Values
from benchmarks.speed.cases import (
    GPU,
    LIMITS,
    MODES,
    SIZES,
    STEPS,
    Activation,
    study_named,
)
from keras_vaf.utils import markdown_table

MODE_NAMES = tuple(mode.name for mode in MODES)


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:.{1 if value > 0.01 else 2}f}"


def _microseconds(value: float) -> str:
    return f"{value * 1e6:.0f}"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.{0 if value > 1e8 else 1}f}"


@dataclasses.dataclass(frozen=True)
class Table:
    """One quantity: activations down, modes across.

    Args:
        heading: Title, with the unit.
        studies: Where it was measured; of an activation in several, the first counts.
        name: Which value.
        show: A number as text.
        ratio: Whether the ratio to the study's reference is shown too.
    """

    heading: str
    studies: tuple[str, ...]
    name: str
    show: Callable[[float], str]
    ratio: bool = True

    @property
    def title(self) -> str:
        """Heading, and what the ratios refer to."""
        reference = study_named(self.studies[0]).reference.label
        return f"{self.heading} (and to {reference})" if self.ratio else self.heading


LARGE = ("operation", "smooth", "sharing", "forms")
MEMORY = ("operation", "forms")

TABLES = (
    Table("Forward and backward, ms", LARGE, "forward_backward", _milliseconds),
    Table("Forward, ms", LARGE, "forward", _milliseconds),
    Table("XLA's temporaries, MB", MEMORY, "temporary_bytes", _megabytes, False),
    Table("Kept for the backward pass, MB", MEMORY, "saved_bytes", _megabytes),
    Table("Resident memory of a pass, MB", MEMORY, "resident_bytes", _megabytes),
    Table(
        "act(x + bias) * scale, forward and backward, ms",
        ("chain",),
        "forward_backward",
        _milliseconds,
    ),
    *(
        Table(
            f"{count} elements, forward and backward, µs",
            ("sizes",),
            f"{count} elements",
            _microseconds,
        )
        for count in SIZES.shape
    ),
    *(
        Table(
            f"Limits: {count} elements, forward and backward, µs",
            ("limits",),
            f"{count} elements",
            _microseconds,
        )
        for count in LIMITS.shape
    ),
    *(
        Table(f"{study.name}, {what}, ms", (study.name,), name, _milliseconds)
        for study in GPU
        for what, name in (
            ("forward and backward", "forward_backward"),
            ("forward", "forward"),
        )
    ),
    Table("Second derivatives, 1e5 elements, µs", ("second",), "second", _microseconds),
    Table("Training step of cnet_B, ms", ("cnet_B",), "step", _milliseconds),
    Table("Memory of its step, by XLA, MB", ("cnet_B",), "peak_bytes", _megabytes),
    Table("Kept for its backward pass, MB", ("cnet_B",), "saved_bytes", _megabytes),
    Table("Training step of a small network, ms", ("small",), "step", _milliseconds),
    *(
        Table(
            f"Training step with a batch of {batch}, ms",
            ("steps",),
            f"batch of {batch}",
            _milliseconds,
        )
        for batch in STEPS.shape
    ),
    Table("Step of a physics-informed network, ms", ("pinn",), "step", _milliseconds),
    Table("Inference of cnet_B, ms", ("predict",), "predict", _milliseconds),
    Table("Compile time of cnet_B, s", ("compile",), "compile", "{:.2f}".format),
    *(
        Table(heading, (study,), heading, "{:.1e}".format, False)
        for study, heading in (
            ("accuracy", "error at 1e+06 elements"),
            ("accuracy_large", "error at 1e+08 elements"),
        )
    ),
    Table(
        "Family, forward and backward, ms",
        ("family",),
        "forward_backward",
        _milliseconds,
    ),
    Table("Family, forward, ms", ("family",), "forward", _milliseconds),
    Table(
        "Family, XLA's temporaries, MB",
        ("family",),
        "temporary_bytes",
        _megabytes,
        False,
    ),
    Table(
        "Family, kept for the backward pass, MB", ("family",), "saved_bytes", _megabytes
    ),
    Table(
        "Family, resident memory of a pass, MB",
        ("family",),
        "resident_bytes",
        _megabytes,
    ),
    Table(
        "Page faults of forward and backward",
        LARGE,
        "forward_backward, page faults",
        "{:.0f}".format,
        False,
    ),
)


def markdown(document: dict[str, Any]) -> str:
    """The page of a benchmark, from what its JSON file holds.

    Args:
        document: `environment`, and `results` as `benchmarks.speed.runner.measure`
            gives them.
    """
    values = values_of(document["results"])
    parts = [
        "# Benchmark",
        "Made by `python -m benchmarks`. Every number is a median over repetitions "
        "(of three processes for operations, training steps and inference); a "
        "ratio is taken within each of them, in this run.",
        markdown_table(["machine", ""], environment_rows(document)),
        "## Aims",
        markdown_table(["what", "aim", *MODE_NAMES], _aim_rows(values)),
    ]
    for table in TABLES:
        rows = [(name, *own.values()) for name, own in cells(table, values).items()]
        if rows:
            heading = f"## {table.title}"
            parts += [heading, markdown_table(["", *MODE_NAMES], rows)]
    return "\n\n".join(parts) + "\n"


def values_of(results: Iterable[dict[str, Any]]) -> Values:
    """Numbers by study, mode, activation and name; those of equal cases are joined."""
    values: Values = {}
    for result in results:
        activation = Activation(**result["activation"])
        for name, numbers in result["values"].items():
            key = (result["study"], result["mode"], activation, name)
            values[key] = values.get(key, []) + numbers
    return values


def median_ratio(
    values: Values, table: Table, mode: str, activation: Activation
) -> float | None:
    """A value over that of the reference in the same study, the median of repetitions.

    `None` if it was not measured.
    """
    study = _study_of(values, table, mode, activation)
    if study is None:
        return None
    own = values[study, mode, activation, table.name]
    reference = study_named(study).reference
    others = values.get((study, mode, reference, table.name))
    if not others or not all(others):
        return None
    return statistics.median(a / b for a, b in zip(own, others, strict=True))


def _study_of(
    values: Values, table: Table, mode: str, activation: Activation
) -> str | None:
    found = (s for s in table.studies if values.get((s, mode, activation, table.name)))
    return next(found, None)


def environment_rows(document: dict[str, Any]) -> list[Sequence[str]]:
    """The machine and the versions, and all values of those that results differ in."""
    rows: list[Sequence[str]] = []
    for name, value in document["environment"].items():
        own = dict.fromkeys(result.get(name, value) for result in document["results"])
        rows.append((name, "; ".join(map(str, own or [value]))))
    return rows


def _aim_rows(values: Values) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for aim in AIMS:
        found = {mode.name: aim.value(values, mode.name) for mode in aim.modes}
        if any(value is not None for value in found.values()):
            cells = (_verdict(found.get(name), aim.limit) for name in MODE_NAMES)
            rows.append((aim.what, f"<= {_short(aim.limit)}", *cells))
    return rows


def _verdict(value: float | None, limit: float) -> str:
    if value is None:
        return ""
    return _short(value) if value <= limit else f"**{_short(value)}** (missed)"


def _short(value: float) -> str:
    return f"{value:.1e}" if 0 < value < 1e-3 else f"{value:.2f}"


def cells(table: Table, values: Values) -> dict[str, dict[str, str]]:
    """The cells of a table, by activation and mode; empty if not measured."""
    studies = map(study_named, table.studies)
    activations = dict.fromkeys(a for study in studies for a in study.activations)
    found = {
        each.label: {mode: _cell(table, values, mode, each) for mode in MODE_NAMES}
        for each in activations
    }
    return {name: own for name, own in found.items() if any(own.values())}


def _cell(table: Table, values: Values, mode: str, activation: Activation) -> str:
    study = _study_of(values, table, mode, activation)
    if study is None:
        return ""
    text = table.show(statistics.median(values[study, mode, activation, table.name]))
    ratio = median_ratio(values, table, mode, activation) if table.ratio else None
    return text if ratio is None else f"{text} ({ratio:.2f})"
