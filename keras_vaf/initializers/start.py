"""`Start` and `KnownStart`, the base classes of all starts of a VAF."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.functions import Function, evaluate, get_function

INSIDE = np.linspace(-8, 8, 3201)
"""Points at which the error of a start is measured."""
BESIDE = 1e-9
"""Distance of additional points on both sides of each point, in case f jumps."""
FAR = 100.0
"""Distance from 0 at which the errors at the ends are measured."""

_PLACES = 1e6 * np.array([1, 2, 4])

Ends = tuple[float | None, float | None]
"""Slopes far left and far right; `None` on a side without a limiting line."""
Values = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""alpha, alpha_bias, beta and beta_bias."""


class Start:
    """Start values of the four weights of a VAF.

    Unlike a `keras.initializers.Initializer`, a start sets the four weights together,
    because a function depends on all of them. To write a new start, define `__call__`
    and `get_config`, and register the class with
    `keras.saving.register_keras_serializable`.

    Example:

    >>> alpha, alpha_bias, beta, beta_bias = RandomStart(seed=0)(
    ...     (8,), k=3, g=keras.activations.relu
    ... )
    >>> alpha.shape, beta_bias.shape
    ((8, 3), (8,))
    """

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Return the start values of every function of a layer.

        Args:
            unshared: Sizes of the axes along which functions differ.
            k: Number of hidden units.
            g: Fixed function of the hidden units.

        Returns:
            Float64 arrays: alpha, alpha_bias and beta of shape `(*unshared, k)`, and
            beta_bias of shape `unshared`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `__call__`.")

    def known(self, g: Function) -> "KnownStart | None":
        """Return the equivalent start at a known function, if there is one."""
        return None

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return the start that a configuration describes."""
        return cls(**config)


class Errors(NamedTuple):
    """Differences between f and the function at which it starts.

    Attributes:
        largest: Largest difference on [-8, 8].
        left: Difference at -100, large if f cannot have the slope of the function.
        right: Difference at 100.
    """

    largest: float
    left: float
    right: float


class KnownStart(Start):
    """A start at a known function. Subclasses define the first three methods."""

    def target(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the function to start at, in float64."""
        raise NotImplementedError(f"{type(self).__name__} must define `target`.")

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function: `(k,)`, `(k,)`, `(k,)` and `()`."""
        raise NotImplementedError(f"{type(self).__name__} must define `units`.")

    @property
    def ends(self) -> Ends:
        """Slopes of the lines that the function approaches far left and far right."""
        return limit_slopes(self.target)

    def fitted(self, g: Function) -> bool:
        """Return whether units of g fit the function, instead of being equal to it."""
        raise NotImplementedError(f"{type(self).__name__} must define `fitted`.")

    def known(self, g: Function) -> "KnownStart":
        """Return this start."""
        return self

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Return the start values of every function of a layer (see `Start`)."""
        alpha, alpha_bias, beta, beta_bias = self.units(k, g)
        units = [
            np.broadcast_to(each, (*unshared, k)) for each in (alpha, alpha_bias, beta)
        ]
        return units[0], units[1], units[2], np.broadcast_to(beta_bias, tuple(unshared))

    def error(self, k: int, g: str | Function = "relu") -> Errors:
        """Return the differences between f of k hidden units and the function.

        They are 0 up to rounding if the start is exact.

        Example:

        >>> FunctionStart("relu").error(k=3, g="relu")
        Errors(largest=0.0, left=0.0, right=0.0)
        """
        g = get_function(g, "g")
        return self.errors_of(self.units(k, g), g)

    def errors_of(self, values: Values, g: Function) -> Errors:
        """Return the errors of start values of one function (see `error`)."""
        alpha, alpha_bias, beta, _ = values
        knots = np.clip(-alpha_bias / alpha, INSIDE[0], INSIDE[-1])[beta != 0]
        # A number of knots that is always the same compiles only once.
        inside = (INSIDE - BESIDE, INSIDE, INSIDE + BESIDE, np.resize(knots, 1000))
        x = np.concatenate([[-FAR, FAR], *inside])
        errors, y = self.differences(values, g, x)
        errors = np.nan_to_num(np.abs(errors), nan=np.inf, posinf=np.inf)
        largest = np.max(errors[2:], where=np.isfinite(y[2:]), initial=0)
        return Errors(float(largest), float(errors[0]), float(errors[1]))

    def differences(
        self, values: Values, g: Function, x: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return f minus the function at x, and the values of the function."""
        alpha, alpha_bias, beta, constant = values
        with np.errstate(all="ignore"):
            y = self.target(x)
            errors = constant - y
            for a, b, factor in zip(alpha, alpha_bias, beta, strict=True):
                errors = errors + factor * evaluate(g, a * x + b)
        return errors, y

    def __eq__(self, other: object) -> bool:
        """Return whether another start is equal."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Return a hash, so that fits can be cached."""
        return hash((type(self), *vars(self).values()))


def ends_of(function: Function) -> Ends:
    """Return the limiting slopes of a function of tensors, far left and far right."""
    if name_of(function) is not None:
        return elementwise(function).ends
    return limit_slopes(lambda x: evaluate(function, x))


def limit_slopes(value: Callable[[np.ndarray], np.ndarray]) -> Ends:
    """Return the limiting slopes of a function of arrays, far left and far right."""
    with np.errstate(all="ignore"):
        left, right = value(np.stack([-_PLACES, _PLACES]))
        return _slope(-_PLACES, left), _slope(_PLACES, right)


def limits(
    value: Callable[[np.ndarray], np.ndarray], ends: Ends
) -> tuple[list[float], list[float]]:
    """Return slopes and offsets of a function's limits, 0 on a side without one."""
    slopes = [end or 0.0 for end in ends]
    x = _PLACES[-1] * np.array([-1.0, 1.0])
    with np.errstate(all="ignore"):
        offsets = np.round(value(x) - np.array(slopes) * x, 5) + 0.0
    pairs = zip(ends, offsets.tolist(), strict=True)
    return slopes, [0.0 if end is None else offset for end, offset in pairs]


def _slope(x: np.ndarray, y: np.ndarray) -> float | None:
    slope = round(float((y[2] - y[1]) / (x[2] - x[1])), 12) + 0.0
    straight = np.ptp(y - slope * x) < 1e-3 * (1 + abs(slope))
    return slope if straight else None
