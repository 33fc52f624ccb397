"""`report`, which lists the activations that were replaced and kept."""

import dataclasses
import math
import weakref
from collections import Counter
from collections.abc import Iterable
from typing import Any

import keras

# Keras does not save a report, so it is not an attribute of the model.
_REPORTS: weakref.WeakKeyDictionary[Any, "ConversionReport"] = (
    weakref.WeakKeyDictionary()
)
_LINES = 10  # of a printed report, at most


class KeptError(Exception):
    """The reason why an activation is kept."""


class NoExactStartError(KeptError):
    """The same, where a VAF could start near the activation, but nowhere exactly."""


@dataclasses.dataclass
class Change:
    """The change of an activation, or the reason to keep it.

    Attributes:
        layer: Path of the layer, such as `"backbone/relu_1"`.
        before: Name of the old activation.
        after: Name of the new one.
        error: Largest difference of the two functions, on the data if they were fitted
            to data; `None` if it is not measured.
        parameters: Number of parameters added.
        nearest: The known function nearest to the old one, if it was looked for.
        kept: The reason to keep the activation; empty if it was replaced.
        remark: A further fact, such as that the old activation computed in place.
        rms: Root mean square difference on the data, if it was measured.
        relative: The same, divided by the standard deviation of the old values.
    """

    layer: str
    before: str
    after: str = ""
    error: float | None = None
    parameters: int = 0
    nearest: str = ""
    kept: str = ""
    remark: str = ""
    rms: float | None = None
    relative: float | None = None

    def __str__(self) -> str:
        """Return one line of the printed report."""
        line = f"{self.layer}: {self.kind}"
        if self.kept:
            return line
        line += f", parameters {self.parameters:+d}"
        if self.rms is not None:
            line += f", root mean square error {self.rms:.2g}"
        if self.error is not None or self.rms is None:
            error = "not measured" if self.error is None else f"{self.error:.2g}"
            line += f", largest error {error}"
        near = self.nearest and f"near {self.nearest}"
        return "; ".join(filter(None, (line, near, self.remark)))

    @property
    def kind(self) -> str:
        """The change without its layer and its figures."""
        what = f"kept, {self.kept}" if self.kept else f"-> {self.after}"
        return f"{self.before} {what}"


@dataclasses.dataclass
class Draft(Change):
    """A change while it is made: its record, the activations, and their places."""

    old: Any = None
    holder: Any = None  # the layer that holds it, which may be the activation itself
    name: str = ""  # of the new layer
    inside: bool = False  # of a layer that keeps its own structure
    recurrent: bool = False
    new: Any = None  # or all copies of it inside a layer
    starts: Any = ()  # known functions at which those of a new VAF start

    def record(self) -> Change:
        """Return the record of the change alone."""
        fields = dataclasses.fields(Change)
        return Change(*(getattr(self, field.name) for field in fields))


@dataclasses.dataclass(frozen=True)
class ConversionReport:
    """The activations that `convert`, `simplify` or `freeze` replaced or kept.

    It is printed in ten lines at most: equal changes of a large model share a line.

    Attributes:
        replaced: The changes of activations.
        kept: The activations that were kept, with the reasons.
        deviation: Largest difference of an output; `None` if it is not measured.
        notes: Sentences about a whole module of PyTorch.
    """

    replaced: tuple[Change, ...] = ()
    kept: tuple[Change, ...] = ()
    deviation: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        """Number of parameters added to the model."""
        return sum(each.parameters for each in self.replaced)

    @property
    def error(self) -> float:
        """Largest measured error of all replacements."""
        return max((each.error or 0.0 for each in self.replaced), default=0.0)

    @property
    def details(self) -> str:
        """One line for each activation, and a line with the totals."""
        return self._above_totals(map(str, (*self.replaced, *self.kept)))

    def _above_totals(self, lines: Iterable[str], *after: str) -> str:
        total = f"{len(self.replaced)} replaced, {len(self.kept)} kept, "
        total += f"parameters {self.parameters:+d}"
        if self.deviation is not None:
            total += f", largest deviation of an output {self.deviation:.2g}"
        return "\n".join([*lines, total, *after, *self.notes])

    def __str__(self) -> str:
        """Return `details`, or a summary of them in at most ten lines."""
        changes = (*self.replaced, *self.kept)
        if len(changes) < _LINES:
            return self.details
        kinds = Counter(each.kind for each in changes).most_common(_LINES - 2)
        lines = (f"{count} x {kind}" for kind, count in kinds)
        return self._above_totals(lines, "`details` lists every activation")


def report(model: Any) -> ConversionReport:
    """Return the changes that `convert`, `simplify` or `freeze` made.

    Args:
        model: What one of these functions returned in this process.

    Raises:
        ValueError: If none of these functions returned the model.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.ReLU(name="relu"),
    ...     keras.layers.Dense(1)])
    >>> print(report(convert(model)))
    relu: relu -> VAFActivation, parameters +10, largest error 0
    1 replaced, 0 kept, parameters +10
    """
    try:
        return _REPORTS[model]
    except (KeyError, TypeError):
        raise ValueError(
            "Expected a model that `convert`, `simplify` or `freeze` returned in this "
            "process. A loaded model has no report: `load_vafs` returns what it "
            f"set, `keras-vaf inspect` lists activations. Received: {model!r}"
        ) from None


def keep_report(
    model: Any, drafts: list[Draft], deviation: float | None = None, *notes: str
) -> ConversionReport:
    """Keep the report of a new model, which has all its weights, and return it.

    The parameters of each change are counted, those of a shared activation with the
    first change.
    """
    counted = set[int]()

    def count(activation: Any) -> int:
        parts = keras.tree.flatten(activation)
        found = (
            getattr(p, "weights", None) or getattr(p, "parameters", tuple)()
            for p in parts
        )
        new = {id(w): w for weights in found for w in weights if id(w) not in counted}
        counted.update(new)
        return sum(math.prod(weight.shape) for weight in new.values())

    for each in drafts:
        if each.new is not None and not each.kept:
            each.parameters = count(each.new) - count(each.old)
    changes = [each.record() for each in drafts]
    replaced = tuple(each for each in changes if not each.kept)
    kept = tuple(each for each in changes if each.kept)
    _REPORTS[model] = ConversionReport(replaced, kept, deviation, notes)
    return _REPORTS[model]
