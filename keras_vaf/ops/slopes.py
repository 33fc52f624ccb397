"""Where the fixed functions g of hidden units bend, and how steep they are."""

import math
from typing import NamedTuple

from keras_vaf.ops.elementwise import Function, name_of


class Slopes(NamedTuple):
    """The smallest and the largest slope of a function, over all its arguments."""

    lowest: float
    highest: float


_RISING = Slopes(0.0, 1.0)
_SLOPES = {
    "celu": _RISING,
    "elu": _RISING,
    "exponential": Slopes(0.0, math.inf),
    # At +-sqrt(2), where the second derivative is 0.
    "gelu": Slopes(-0.1289041452, 1.1289041452),
    "hard_shrink": Slopes(0.0, math.inf),  # it jumps
    "hard_sigmoid": Slopes(0.0, 1 / 6),
    "hard_silu": Slopes(-0.5, 1.5),
    "hard_tanh": _RISING,
    "leaky_relu": Slopes(0.2, 1.0),
    "linear": Slopes(1.0, 1.0),
    "log_sigmoid": _RISING,
    "mish": Slopes(-0.1125262, 1.0884982),
    "relu": _RISING,
    "relu6": _RISING,
    "selu": Slopes(0.0, 1.7580993409),
    "sigmoid": Slopes(0.0, 0.25),
    "silu": Slopes(-0.0998393202, 1.0998393202),
    "soft_shrink": _RISING,
    "softplus": _RISING,
    "softsign": _RISING,
    "sparse_plus": _RISING,
    "sparse_sigmoid": Slopes(0.0, 0.5),
    "squareplus": _RISING,
    "tanh": _RISING,
    "tanh_shrink": _RISING,
}


def slopes_of(function: Function) -> Slopes | None:
    """Return the slopes of an element-wise Keras activation, `None` for others."""
    return _SLOPES.get(name_of(function) or "")


_KNOTS = {
    "hard_sigmoid": (-3.0, 3.0),
    "hard_tanh": (-1.0, 1.0),
    "leaky_relu": (0.0,),
    "relu": (0.0,),
    "relu6": (0.0, 6.0),
    "soft_shrink": (-0.5, 0.5),
    "sparse_sigmoid": (-1.0, 1.0),
}


def knots_of(function: Function | None) -> tuple[float, ...]:
    """Return the knots of a Keras activation made of lines, `()` for all else."""
    return () if function is None else _KNOTS.get(name_of(function) or "", ())
