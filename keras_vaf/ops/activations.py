"""`ACTIVATIONS`, the table of known element-wise activations.

Every fact about a named function g comes from this table: its name and derivative,
its lines and knots, its slopes at both ends, the interval in which it is finite, and
its scale.
"""

import math

import keras
from keras import activations, ops

from keras_vaf.ops.fixed_function import FixedFunction, Function, made_of_lines
from keras_vaf.types import Tensor


def _inside(h: Tensor, low: float, high: float) -> Tensor:
    return ops.logical_and(h > low, h < high)


def _gelu_slope(h: Tensor, y: Tensor) -> Tensor:
    density = ops.exp(-0.5 * h * h) * 0.3989422804014327
    return 0.5 * (1 + ops.erf(h * 0.7071067811865476)) + h * density


def _mish_slope(h: Tensor, y: Tensor) -> Tensor:
    inner = ops.tanh(ops.softplus(h))
    return inner + h * ops.sigmoid(h) * (1 - inner * inner)


def _silu_slope(h: Tensor, y: Tensor) -> Tensor:
    gate = ops.sigmoid(h)
    return gate + y * (1 - gate)


def _elu_slope(h: Tensor, y: Tensor) -> Tensor:
    return ops.where(h > 0, 1.0, y + 1)


def relu_squared(x: Tensor) -> Tensor:
    """Return relu(x)^2 element-wise."""
    return ops.square(ops.relu(x))


def _hard_silu_slope(h: Tensor, y: Tensor) -> Tensor:
    return ops.where(h >= 3, 1.0, ops.where(h > -3, h / 3 + 0.5, 0.0))


_SELU = 1.0507009873554805  # slope of selu on the right
_SELU_LEFT = 1.7580993408473766  # its slope at 0, from the left
_ERF_SLOPE = 1.1283791670955126  # slope of erf at 0
_LARGEST_ROOT = 1.8446743e19  # above it the square is infinite in float32
_LARGEST_EXPONENT = 88.72283  # above it exp is infinite in float32

_UP, _LEVEL, _PARALLEL = (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)  # slopes at both ends

ACTIVATIONS = (
    FixedFunction(activations.celu, _elu_slope, _UP),
    FixedFunction(activations.elu, _elu_slope, _UP),
    FixedFunction(
        activations.exponential,
        lambda h, y: y,
        (0.0, None),
        finite=(-math.inf, _LARGEST_EXPONENT),
        scale=1 / 32,
    ),
    FixedFunction(activations.gelu, _gelu_slope, _UP),
    FixedFunction(  # it jumps
        activations.hard_shrink,
        lambda h, y: ops.abs(h) > 0.5,
        _PARALLEL,
        homogeneous=True,
        scale=16,
    ),
    made_of_lines(
        activations.hard_sigmoid,
        lambda h, y: ops.where(_inside(h, -3, 3), 1 / 6, 0.0),
        knots=(-3, 3),
        slopes=(0, 1 / 6, 0),
    ),
    FixedFunction(activations.hard_silu, _hard_silu_slope, _UP),
    made_of_lines(
        activations.hard_tanh,
        lambda h, y: _inside(h, -1, 1),
        knots=(-1, 1),
        slopes=(0, 1, 0),
        first=-1,
    ),
    made_of_lines(
        activations.leaky_relu,
        lambda h, y: ops.where(h > 0, 1.0, 0.2),
        knots=(0,),
        slopes=(0.2, 1),
    ),
    made_of_lines(
        activations.linear, lambda h, y: ops.ones_like(h), knots=(0,), slopes=(1, 1)
    ),
    FixedFunction(activations.log_sigmoid, lambda h, y: ops.sigmoid(-h), (1.0, 0.0)),
    FixedFunction(activations.mish, _mish_slope, _UP),
    made_of_lines(activations.relu, lambda h, y: h > 0, knots=(0,), slopes=(0, 1)),
    made_of_lines(
        activations.relu6, lambda h, y: _inside(h, 0, 6), knots=(0, 6), slopes=(0, 1, 0)
    ),
    FixedFunction(
        activations.selu,
        lambda h, y: ops.where(h > 0, _SELU, y + _SELU_LEFT),
        (0.0, _SELU),
    ),
    FixedFunction(activations.sigmoid, lambda h, y: y * (1 - y), _LEVEL),
    FixedFunction(activations.silu, _silu_slope, _UP),
    made_of_lines(
        activations.soft_shrink,
        lambda h, y: ops.abs(h) > 0.5,
        knots=(-0.5, 0.5),
        slopes=(1, 0, 1),
        scale=16,
    ),
    FixedFunction(activations.softplus, lambda h, y: ops.sigmoid(h), _UP),
    FixedFunction(
        activations.softsign, lambda h, y: 1 / ops.square(1 + ops.abs(h)), _LEVEL
    ),
    FixedFunction(
        activations.sparse_plus, lambda h, y: ops.clip(0.5 * (h + 1), 0, 1), _UP
    ),
    made_of_lines(
        activations.sparse_sigmoid,
        lambda h, y: ops.where(_inside(h, -1, 1), 0.5, 0.0),
        knots=(-1, 1),
        slopes=(0, 0.5, 0),
    ),
    FixedFunction(
        activations.squareplus, lambda h, y: 0.5 * (1 + h / ops.sqrt(h * h + 4)), _UP
    ),
    FixedFunction(activations.tanh, lambda h, y: 1 - y * y, _LEVEL),
    FixedFunction(
        activations.tanh_shrink,
        lambda h, y: ops.square(ops.tanh(h)),
        _PARALLEL,
        scale=16,
    ),
    FixedFunction(ops.cos, lambda h, y: -ops.sin(h)),
    FixedFunction(ops.erf, lambda h, y: ops.exp(-h * h) * _ERF_SLOPE, _LEVEL),
    FixedFunction(
        relu_squared,
        lambda h, y: 2 * ops.relu(h),
        (0.0, None),
        finite=(-math.inf, _LARGEST_ROOT),
    ),
    FixedFunction(ops.sin, lambda h, y: ops.cos(h)),
    FixedFunction(
        ops.square, lambda h, y: 2 * h, finite=(-_LARGEST_ROOT, _LARGEST_ROOT)
    ),
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


def name_of(function: Function | None) -> str | None:
    """Return the name of a function of the table, or `None` for other functions."""
    known = BY_NAME.get(getattr(function, "__name__", ""))
    return known.name if known and known.value is function else None


def elementwise(function: Function) -> FixedFunction:
    """Return the known facts about a fixed function of one variable.

    Args:
        function: A function of the table, or any differentiable function of one tensor
            that acts on each element alone.

    Returns:
        The entry of the table. For other functions, an entry with the value alone.
    """
    name = name_of(function)
    if name is None:
        return FixedFunction(function, finite=None)
    return BY_NAME[name]
