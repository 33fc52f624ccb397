"""`ACTIVATIONS`, the table of known element-wise activations and the facts on them."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
from keras import activations, ops

from keras_vaf.types import Tensor

Function = Callable[[Tensor], Tensor]


class Lines(NamedTuple):
    """A continuous function made of straight lines.

    Args:
        knots: Points between neighbouring lines, ascending.
        slopes: Slopes of the lines, one more than knots.
        value: Value at the first knot.
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    value: float = 0.0


class FixedFunction(NamedTuple):
    """A function g that acts on each element alone, with the known facts about it.

    Args:
        value: The function g.
        ends: Slopes of the lines that g approaches far left and far right; `None` where
            it approaches no line or the line is unknown.
        lines: The straight lines that g is made of, if it is.
        finite: The interval in which g is finite in float32, or `None` if unknown.
        scale: Factor of alpha in random starts. With the factor of a g that amplifies
            large signals most, f is nearly linear for the values that enter the layer.
    """

    value: Function
    ends: tuple[float | None, float | None] = (None, None)
    lines: Lines | None = None
    finite: tuple[float, float] | None = (-math.inf, math.inf)
    scale: float = 1.0

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.value.__name__

    @property
    def knots(self) -> tuple[float, ...]:
        """The points where a function made of lines bends; `()` for all others."""
        knots, slopes, _ = self.lines or Lines((), (0,), 0)
        pairs = zip(knots, slopes, slopes[1:], strict=False)
        return tuple(knot for knot, left, right in pairs if left != right)


def _made_of_lines(value: Function, *lines: Any, scale: float = 1.0) -> FixedFunction:
    """Return the entry of a function with given knots, slopes and first value."""
    slopes = lines[1]
    return FixedFunction(value, (slopes[0], slopes[-1]), Lines(*lines), scale=scale)


def relu_squared(x: Tensor) -> Tensor:
    """Return relu(x)^2 element-wise."""
    return ops.square(ops.relu(x))


_SELU = 1.0507009873554805  # slope of selu on the right
_LARGEST_ROOT = 1.8446743e19  # above it the square is infinite in float32
_LARGEST_EXPONENT = 88.72283  # above it exp is infinite in float32
_LEFT = -math.inf
_UP, _LEVEL, _PARALLEL = (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)  # slopes at both ends

ACTIVATIONS = (
    FixedFunction(activations.celu, _UP),
    FixedFunction(activations.elu, _UP),
    FixedFunction(
        activations.exponential,
        (0.0, None),
        finite=(_LEFT, _LARGEST_EXPONENT),
        scale=1 / 32,
    ),
    FixedFunction(activations.gelu, _UP),
    FixedFunction(activations.hard_shrink, _PARALLEL, scale=16),  # it jumps
    _made_of_lines(activations.hard_sigmoid, (-3, 3), (0, 1 / 6, 0)),
    FixedFunction(activations.hard_silu, _UP),
    _made_of_lines(activations.hard_tanh, (-1, 1), (0, 1, 0), -1),
    _made_of_lines(activations.leaky_relu, (0,), (0.2, 1)),
    _made_of_lines(activations.linear, (0,), (1, 1)),
    FixedFunction(activations.log_sigmoid, (1.0, 0.0)),
    FixedFunction(activations.mish, _UP),
    _made_of_lines(activations.relu, (0,), (0, 1)),
    _made_of_lines(activations.relu6, (0, 6), (0, 1, 0)),
    FixedFunction(activations.selu, (0.0, _SELU)),
    FixedFunction(activations.sigmoid, _LEVEL),
    FixedFunction(activations.silu, _UP),
    _made_of_lines(activations.soft_shrink, (-0.5, 0.5), (1, 0, 1), scale=16),
    FixedFunction(activations.softplus, _UP),
    FixedFunction(activations.softsign, _LEVEL),
    FixedFunction(activations.sparse_plus, _UP),
    _made_of_lines(activations.sparse_sigmoid, (-1, 1), (0, 0.5, 0)),
    FixedFunction(activations.squareplus, _UP),
    FixedFunction(activations.tanh, _LEVEL),
    FixedFunction(activations.tanh_shrink, _PARALLEL, scale=16),
    FixedFunction(ops.cos),
    FixedFunction(ops.erf, _LEVEL),
    FixedFunction(relu_squared, (0.0, None), finite=(_LEFT, _LARGEST_ROOT)),
    FixedFunction(ops.sin),
    FixedFunction(ops.square, finite=(-_LARGEST_ROOT, _LARGEST_ROOT)),
)
"""The functions that have a name, with the known facts about each."""

BY_NAME = {known.name: known for known in ACTIVATIONS}
NAMES = tuple(BY_NAME)
"""Names of element-wise activations: those of Keras, `"cos"`, `"erf"`,
`"relu_squared"`, `"sin"` and `"square"`."""
KERAS_NAMES = tuple(name for name in NAMES if hasattr(keras.activations, name))
"""Names that `keras.layers.Activation` takes as well."""
ALIASES = {"swish": "silu", "hard_swish": "hard_silu"}
"""Second names of some of these functions in Keras."""
IN_KERNELS = {
    "relu": (0, 0.0),
    "leaky_relu": (0, 0.2),
    "tanh": (1, 0.0),
    "sigmoid": (2, 0.0),
    "silu": (3, 0.0),
    "gelu": (4, 0.0),
    "sin": (5, 0.0),
}
"""Each g of the kernels: its number in `VafFunction`, and its slope below 0 if it is
made of two lines."""


def name_of(function: Function | None) -> str | None:
    """Return the name of a function of the table, or `None` for other functions."""
    known = BY_NAME.get(getattr(function, "__name__", ""))
    return known.name if known and known.value is function else None


def elementwise(function: Function) -> FixedFunction:
    """Return the entry of the table, or one with the value alone."""
    name = name_of(function)
    return FixedFunction(function, finite=None) if name is None else BY_NAME[name]
