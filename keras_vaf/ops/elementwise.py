"""The hidden unit's fixed function g, and what its gradient needs to know about it."""

import dataclasses
import functools
from collections.abc import Callable

import keras
from keras import ops

from keras_vaf.ops.vjp import vjp
from keras_vaf.types import Tensor

Function = Callable[[Tensor], Tensor]


@dataclasses.dataclass(frozen=True)
class Elementwise:
    """A fixed function g of one variable, with its derivative.

    Args:
        value: The function g.
        derivative: `derivative(h, y)` is g'(h), given h and y = g(h). `None` leaves it
            to the backend's automatic differentiation.
        homogeneous: Whether g(h) = h g'(h) for every h, as for functions made of pieces
            of lines through 0. Two sums then give all the gradients of a hidden unit.
    """

    value: Function
    derivative: Callable[[Tensor, Tensor], Tensor] | None = None
    homogeneous: bool = False

    def slope(self, h: Tensor, y: Tensor) -> Tensor:
        """g'(h), given y = g(h)."""
        if self.derivative is None:
            (slope,) = vjp(self.value, (h,), ops.ones_like(h))
            return slope
        return ops.cast(self.derivative(h, y), h.dtype)


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


_SELU_SCALE = 1.0507009873554805
_SELU_ALPHA = 1.6732632423543772

# g'(h) for Keras's functions of one variable, given h and y = g(h).
_DERIVATIVES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "celu": lambda h, y: ops.where(h > 0, 1.0, y + 1),
    "elu": lambda h, y: ops.where(h > 0, 1.0, y + 1),
    "exponential": lambda h, y: y,
    "gelu": _gelu_slope,
    "hard_shrink": lambda h, y: ops.abs(h) > 0.5,
    "hard_sigmoid": lambda h, y: ops.where(_inside(h, -3, 3), 1 / 6, 0.0),
    "hard_silu": lambda h, y: ops.where(
        h >= 3, 1.0, ops.where(h > -3, h / 3 + 0.5, 0.0)
    ),
    "hard_tanh": lambda h, y: _inside(h, -1, 1),
    "leaky_relu": lambda h, y: ops.where(h > 0, 1.0, 0.2),
    "linear": lambda h, y: ops.ones_like(h),
    "log_sigmoid": lambda h, y: ops.sigmoid(-h),
    "mish": _mish_slope,
    "relu": lambda h, y: h > 0,
    "relu6": lambda h, y: _inside(h, 0, 6),
    "selu": lambda h, y: ops.where(h > 0, _SELU_SCALE, y + _SELU_SCALE * _SELU_ALPHA),
    "sigmoid": lambda h, y: y * (1 - y),
    "silu": _silu_slope,
    "soft_shrink": lambda h, y: ops.abs(h) > 0.5,
    "softplus": lambda h, y: ops.sigmoid(h),
    "softsign": lambda h, y: 1 / ops.square(1 + ops.abs(h)),
    "sparse_plus": lambda h, y: ops.clip(0.5 * (h + 1), 0, 1),
    "sparse_sigmoid": lambda h, y: ops.where(_inside(h, -1, 1), 0.5, 0.0),
    "squareplus": lambda h, y: 0.5 * (1 + h / ops.sqrt(h * h + 4)),
    "tanh": lambda h, y: 1 - y * y,
    "tanh_shrink": lambda h, y: ops.square(ops.tanh(h)),
}
_HOMOGENEOUS = frozenset({"hard_shrink", "leaky_relu", "linear", "relu"})

NAMES = tuple(_DERIVATIVES)
"""Names of the Keras activations that act on each element alone."""
ALIASES = {"swish": "silu", "hard_swish": "hard_silu"}
"""Other names that Keras has for some of them."""


def name_of(function: Function) -> str | None:
    """Name under which Keras knows an element-wise activation, `None` for others."""
    name = getattr(function, "__name__", "")
    known = name in _DERIVATIVES and getattr(keras.activations, name, None) is function
    return name if known else None


@functools.cache
def elementwise(function: Function) -> Elementwise:
    """What is known of a fixed function g: its derivative, and whether two sums do.

    Args:
        function: An element-wise Keras activation, or any differentiable function of
            one tensor that acts on each element alone.

    Returns:
        An `Elementwise`.
    """
    name = name_of(function)
    if name is None:
        return Elementwise(function)
    return Elementwise(function, _DERIVATIVES[name], name in _HOMOGENEOUS)
