"""What was done to a model, layer by layer."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Change:
    """An activation that was replaced.

    Args:
        layer: Path of its layer, such as `"backbone/relu_1"`.
        before: What it was.
        after: What it is now.
        error: Largest difference between the two functions; `None` where it was not
            measured.
        parameters: Parameters added; negative if there are fewer.
        nearest: The known function that is nearest to it, where it was sought.
    """

    layer: str
    before: str
    after: str
    error: float | None = None
    parameters: int = 0
    nearest: str = ""

    def __str__(self) -> str:
        """One line for people."""
        error = "not measured" if self.error is None else f"{self.error:.2g}"
        nearest = f"; near {self.nearest}" if self.nearest else ""
        return (
            f"{self.layer}: {self.before} -> {self.after}, "
            f"parameters {self.parameters:+d}, largest error {error}{nearest}"
        )


@dataclasses.dataclass(frozen=True)
class Kept:
    """An activation that was left as it is.

    Args:
        layer: Path of its layer.
        activation: What it is.
        reason: Why it was not replaced.
    """

    layer: str
    activation: str
    reason: str

    def __str__(self) -> str:
        """One line for people."""
        return f"{self.layer}: {self.activation} kept, {self.reason}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What `convert` and its like did to a model; the attribute `report` of the result.

    Args:
        changes: The activations that were replaced.
        kept: Those that were not.
        deviation: Largest difference between outputs of the two models; `None` where it
            was not measured.

    Example:

    >>> relu = keras.Sequential([keras.Input((4,)), keras.layers.ReLU(name="relu"),
    ...     keras.layers.Dense(1)])
    >>> print(convert(relu).report)
    relu: relu -> VAFActivation, parameters +10, largest error 0
    1 replaced, 0 kept, parameters +10
    """

    changes: tuple[Change, ...] = ()
    kept: tuple[Kept, ...] = ()
    deviation: float | None = None

    @property
    def parameters(self) -> int:
        """Parameters added to the model."""
        return sum(change.parameters for change in self.changes)

    @property
    def error(self) -> float:
        """Largest error of all changes that were measured."""
        errors = (change.error for change in self.changes)
        return max((error for error in errors if error is not None), default=0.0)

    def __str__(self) -> str:
        """One line for people."""
        total = (
            f"{len(self.changes)} replaced, {len(self.kept)} kept, "
            f"parameters {self.parameters:+d}"
        )
        if self.deviation is not None:
            total += f", largest deviation of an output {self.deviation:.2g}"
        return "\n".join(map(str, (*self.changes, *self.kept, total)))
