"""`FixedFunction`, a fixed function of one variable and the known facts about it."""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import keras
from keras import ops

from keras_vaf.ops.vjp import vjp
from keras_vaf.types import Tensor

Function = Callable[[Tensor], Tensor]
Derivative = Callable[[Tensor, Tensor], Tensor]


class Lines(NamedTuple):
    """A continuous function made of straight lines.

    Args:
        knots: Points between neighbouring lines, ascending.
        slopes: Slopes of the lines, one more than knots.
        value: Value at the first knot.
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    value: float


@dataclasses.dataclass(frozen=True)
class FixedFunction:
    """A function g that acts on each element alone, with the known facts about it.

    Args:
        value: The function g.
        derivative: `derivative(h, y)` is g'(h), given h and y = g(h). `None` leaves it
            to the backend's automatic differentiation.
        ends: Slopes of the lines that g approaches far left and far right; `None` where
            it approaches no line or the line is unknown.
        lines: The straight lines that g is made of, if it is.
        homogeneous: Whether g(h) = h g'(h) for every h, as for functions made of lines
            through 0. Two sums then give all the gradients of a hidden unit.
        finite: The interval in which g is finite in float32, or `None` if unknown.
        scale: Factor of alpha in random starts. If g amplifies large signals more than
            small ones, no scale of beta is stable: the signal of a deep network grows
            without bound or vanishes. With this factor, f is nearly linear for the
            values that enter the layer.
    """

    value: Function
    derivative: Derivative | None = None
    ends: tuple[float | None, float | None] = (None, None)
    lines: Lines | None = None
    homogeneous: bool = False
    finite: tuple[float, float] | None = (-math.inf, math.inf)
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.value.__name__

    @property
    def knots(self) -> tuple[float, ...]:
        """The points where a function made of lines bends; `()` for all others."""
        if self.lines is None:
            return ()
        sides = zip(self.lines.slopes, self.lines.slopes[1:], strict=False)
        pairs = zip(self.lines.knots, sides, strict=True)
        return tuple(knot for knot, (left, right) in pairs if left != right)

    def slope(self, h: Tensor, y: Tensor) -> Tensor:
        """g'(h), given y = g(h)."""
        if self.derivative is None:
            (slope,) = vjp(self.value, (h,), ops.ones_like(h))
            return slope
        return ops.cast(self.derivative(h, y), h.dtype)

    def pull_back(self, upstream: Tensor, h: Tensor, y: Tensor) -> Tensor:
        """upstream * g'(h), given y = g(h)."""
        if self.derivative is not None:
            slope = self.derivative(h, y)
            if keras.backend.standardize_dtype(slope.dtype) == "bool":
                return ops.where(slope, upstream, ops.zeros_like(upstream))
        return upstream * self.slope(h, y)


def made_of_lines(
    value: Function,
    derivative: Derivative,
    knots: tuple[float, ...],
    slopes: tuple[float, ...],
    first: float = 0.0,
    scale: float = 1.0,
) -> FixedFunction:
    """Describe a continuous function made of straight lines.

    Args:
        value: The function.
        derivative: Its derivative (see `FixedFunction`).
        knots: Points between neighbouring lines, ascending.
        slopes: Slopes of the lines, one more than knots.
        first: Value at the first knot.
        scale: Factor of alpha in random starts.
    """
    return FixedFunction(
        value,
        derivative,
        ends=(slopes[0], slopes[-1]),
        lines=Lines(knots, slopes, first),
        homogeneous=not any((*knots, first)),
        scale=scale,
    )
