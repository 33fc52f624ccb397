"""Tables from results: the one place where numbers become text."""

import dataclasses
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.speed.aims import AIMS, Values
from benchmarks.speed.cases import MODES, RELU, Activation, study_named
from keras_vaf.utils import markdown_table

MODE_NAMES = tuple(mode.name for mode in MODES)


def _milliseconds(value: float) -> str:
    return f"{value * 1e3:.{1 if value > 0.01 else 2}f}"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.{0 if value > 1e8 else 1}f}"


@dataclasses.dataclass(frozen=True)
class Table:
    """One quantity: activations down, modes across.

    Args:
        heading: Title, with the unit.
        study, name: Which value.
        show: A number as text.
        ratio: Whether the ratio to ReLU stands beside it.
    """

    heading: str
    study: str
    name: str
    show: Callable[[float], str]
    ratio: bool = True


TABLES = (
    Table("Forward and backward, ms", "operation", "forward_backward", _milliseconds),
    Table("Forward, ms", "operation", "forward", _milliseconds),
    Table("XLA's temporaries, MB", "operation", "temporary_bytes", _megabytes, False),
    Table("Kept for the backward pass, MB", "operation", "saved_bytes", _megabytes),
    Table("Peak resident memory, MB", "operation", "resident_bytes", _megabytes),
    Table("Training step of cnet_B, ms", "cnet_B", "step", _milliseconds),
    Table("Memory of its step, by XLA, MB", "cnet_B", "peak_bytes", _megabytes),
    Table("Kept for its backward pass, MB", "cnet_B", "saved_bytes", _megabytes),
    Table("Its peak resident memory, MB", "cnet_B", "resident_bytes", _megabytes),
    Table("Training step of a small network, ms", "small", "step", _milliseconds),
    Table("Compile time of cnet_B, s", "compile", "compile", "{:.2f}".format),
    *(
        Table(heading, "accuracy", heading, "{:.1e}".format, False)
        for heading in ("error at 1e+06 elements", "error at 1e+08 elements")
    ),
    Table(
        "Family, forward and backward, ms", "family", "forward_backward", _milliseconds
    ),
    Table("Family, forward, ms", "family", "forward", _milliseconds),
    Table(
        "Family, XLA's temporaries, MB", "family", "temporary_bytes", _megabytes, False
    ),
    Table(
        "Family, kept for the backward pass, MB", "family", "saved_bytes", _megabytes
    ),
    Table("Family, peak resident memory, MB", "family", "resident_bytes", _megabytes),
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
        "Made by `python -m benchmarks`. Every number is a median over repetitions; a "
        "ratio is taken within each of them, in this run.",
        markdown_table(["machine", ""], _environment_rows(document["environment"])),
        "## Aims",
        markdown_table(["what", "aim", *MODE_NAMES], _aim_rows(values)),
    ]
    for table in TABLES:
        rows = list(_rows(table, values))
        if rows:
            heading = table.heading + (" (and to ReLU)" if table.ratio else "")
            parts += [f"## {heading}", markdown_table(["", *MODE_NAMES], rows)]
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
    """A value over that of ReLU, the median of repetitions; `None` if not measured."""
    own = values.get((table.study, mode, activation, table.name))
    relu = values.get((table.study, mode, RELU, table.name))
    if not own or not relu or not all(relu):
        return None
    return statistics.median(a / b for a, b in zip(own, relu, strict=True))


def _environment_rows(environment: dict[str, Any]) -> list[Sequence[str]]:
    return [(name, str(value)) for name, value in environment.items()]


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


def _rows(table: Table, values: Values) -> Iterable[Sequence[str]]:
    for activation in study_named(table.study).activations:
        cells = [_cell(table, values, mode, activation) for mode in MODE_NAMES]
        if any(cells):
            yield activation.label, *cells


def _cell(table: Table, values: Values, mode: str, activation: Activation) -> str:
    numbers = values.get((table.study, mode, activation, table.name))
    if not numbers:
        return ""
    text = table.show(statistics.median(numbers))
    ratio = median_ratio(values, table, mode, activation) if table.ratio else None
    return text if ratio is None else f"{text} ({ratio:.2f})"
