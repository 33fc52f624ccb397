"""`report` and `ConversionReport`, the list of new and kept activations of a model."""

import dataclasses
import html
import weakref
from collections.abc import Sequence
from typing import Any

import keras

# Keras does not save a report, so it is not an attribute of the model.
_REPORTS: weakref.WeakKeyDictionary[keras.Model, "ConversionReport"] = (
    weakref.WeakKeyDictionary()
)
_LINES = 10  # of a printed report, at most


@dataclasses.dataclass(frozen=True)
class ReplacedActivation:
    """An activation that was replaced.

    Args:
        layer: Path of the layer, such as `"backbone/relu_1"`.
        before: The old activation.
        after: The new activation.
        error: Largest difference between the two functions, or `None` if it was not
            measured.
        parameters: Number of parameters added; negative if parameters were removed.
        nearest: The known function nearest to the old activation, or `""` if it was not
            determined.
        remark: Other changes, such as that the old activation computed in place.
    """

    layer: str
    before: str
    after: str
    error: float | None = None
    parameters: int = 0
    nearest: str = ""
    remark: str = ""

    @property
    def note(self) -> str:
        """The figures of the replacement as text."""
        error = "not measured" if self.error is None else f"{self.error:.2g}"
        nearest = f"; near {self.nearest}" if self.nearest else ""
        remark = f"; {self.remark}" if self.remark else ""
        count = f"parameters {self.parameters:+d}"
        return f"{count}, largest error {error}{nearest}{remark}"

    def __str__(self) -> str:
        """Return one line of the printed report."""
        return f"{self.layer}: {self.before} -> {self.after}, {self.note}"


@dataclasses.dataclass(frozen=True)
class KeptActivation:
    """An activation that was not replaced.

    Args:
        layer: Path of the layer.
        activation: The activation.
        reason: Reason why it was kept.

    Example:

    >>> print(KeptActivation("classes", "softmax", "it shapes an output of the model"))
    classes: softmax kept, it shapes an output of the model
    """

    layer: str
    activation: str
    reason: str

    def __str__(self) -> str:
        """Return one line of the printed report."""
        return f"{self.layer}: {self.activation} kept, {self.reason}"


@dataclasses.dataclass(frozen=True)
class ConversionReport:
    """The changes that `convert`, `simplify` or `freeze` made.

    `report` returns it. It is printed in ten lines at most: equal replacements of a
    large model share a line. `details` has one line per activation, and notebooks show
    it as a table.

    Args:
        replaced: The activations that were replaced.
        kept: The activations that were not replaced.
        deviation: Largest difference between the outputs of the two models, or `None`
            if it was not measured.
        not_searched: Number of layers whose code could not be searched for activations.
        notes: Sentences about the whole module of PyTorch.

    Example:

    >>> relu = keras.Sequential([keras.Input((4,)), keras.layers.ReLU(name="relu"),
    ...     keras.layers.Dense(1)])
    >>> print(report(convert(relu)))
    relu: relu -> VAFActivation, parameters +10, largest error 0
    1 replaced, 0 kept, parameters +10
    """

    replaced: tuple[ReplacedActivation, ...] = ()
    kept: tuple[KeptActivation, ...] = ()
    deviation: float | None = None
    not_searched: int = 0
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """Number of parameters added to the model."""
        return sum(each.parameters for each in self.replaced)

    @property
    def error(self) -> float:
        """Largest measured error of all replacements."""
        errors = (each.error for each in self.replaced)
        return max((error for error in errors if error is not None), default=0.0)

    @property
    def summary(self) -> str:
        """The last line, with the totals."""
        line = (
            f"{len(self.replaced)} replaced, {len(self.kept)} kept, "
            f"parameters {self.parameters:+d}"
        )
        if self.deviation is not None:
            line += f", largest deviation of an output {self.deviation:.2g}"
        if self.not_searched == 1:
            line += "; 1 layer has custom code and was not searched"
        elif self.not_searched:
            layers = f"{self.not_searched} layers"
            line += f"; {layers} have custom code and were not searched"
        return line

    @property
    def details(self) -> str:
        """One line per activation, and a line with the totals."""
        lines = (*self.replaced, *self.kept, self.summary, *self.notes)
        return "\n".join(map(str, lines))

    def __str__(self) -> str:
        """Return `details`, or a summary of them in at most ten lines."""
        if len(self.replaced) + len(self.kept) < _LINES:
            return self.details
        lines = _grouped(self.replaced, self.kept)
        if len(lines) > _LINES - 2:
            others = len(lines) - (_LINES - 3)
            lines = [*lines[: _LINES - 3], f"{others} other kinds of lines"]
        end = (self.summary, "`details` lists every activation", *self.notes)
        return "\n".join([*lines, *end])

    def _repr_html_(self) -> str:
        """Return a table for notebooks."""
        rows = [("layer", "activation", "now", "")]
        rows += [(r.layer, r.before, r.after, r.note) for r in self.replaced]
        rows += [(k.layer, k.activation, "kept", k.reason) for k in self.kept]
        cells = ([f"<td>{html.escape(cell)}</td>" for cell in row] for row in rows)
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
        return f"<table>{body}</table><p>{html.escape(self.summary)}</p>"


def _grouped(replaced: Sequence[Any], kept: Sequence[Any]) -> list[str]:
    """Return one line per kind of replacement and of reason."""
    kinds: dict[tuple[str, str], list[Any]] = {}
    for change in replaced:
        kinds.setdefault((f"{change.before} ->", change.after), []).append(change)
    for each in kept:
        kinds.setdefault((f"{each.activation} kept,", each.reason), []).append(each)
    lines = []
    for (what, then), group in sorted(kinds.items(), key=lambda kind: -len(kind[1])):
        line, total = f"{len(group)} x {what} {then}", ConversionReport(tuple(group))
        if isinstance(group[0], ReplacedActivation):
            line += (
                f", parameters {total.parameters:+d}, largest error {total.error:.2g}"
            )
        lines.append(line)
    return lines


def report(model: keras.Model) -> ConversionReport:
    """Return the changes that `convert`, `simplify` or `freeze` made.

    Args:
        model: A model that one of these functions returned in this process. A file does
            not contain the report of its model.

    Raises:
        ValueError: If none of these functions returned the model.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.ReLU(name="relu"),
    ...     keras.layers.Dense(1)])
    >>> report(convert(model)).parameters
    10
    """
    try:
        return _REPORTS[model]
    except (KeyError, TypeError):
        raise ValueError(
            "Expected a model that `convert`, `simplify` or `freeze` "
            "returned in this process. A loaded model has no report: "
            f"`keras-vaf inspect` lists its activations. Received: {model!r}"
        ) from None


def keep_report(model: keras.Model, changes: ConversionReport) -> None:
    """Keep the report of a new model for `report`.

    Args:
        model: The new model.
        changes: Its report.
    """
    _REPORTS[model] = changes
