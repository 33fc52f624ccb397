"""Starts at a function given by name or as a function."""

import functools
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.piecewise_linear_start import PiecewiseLinearStart
from keras_vaf.initializers.start import KnownStart, Values
from keras_vaf.initializers.units import Carrier, carry, fit
from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.functions import (
    Function,
    evaluate,
    function_identifier,
    get_function,
)

# For (f, g), one unit and a constant: f(x) = beta g(alpha x + alpha_bias) + beta_bias.
_AFFINE: dict[tuple[str, str], tuple[Carrier, float]] = {
    ("hard_sigmoid", "hard_tanh"): ((1 / 3, 0, 1 / 2), 1 / 2),
    ("hard_sigmoid", "relu6"): ((1, 3, 1 / 6), 0),
    ("hard_tanh", "hard_sigmoid"): ((3, 0, 2), -1),
    ("hard_tanh", "relu6"): ((3, 3, 1 / 3), -1),
    ("relu6", "hard_sigmoid"): ((1, -3, 6), 0),
    ("relu6", "hard_tanh"): ((1 / 3, -1, 3), 3),
    ("sigmoid", "tanh"): ((1 / 2, 0, 1 / 2), 1 / 2),
    ("tanh", "sigmoid"): ((2, 0, 2), -1),
}


@keras.saving.register_keras_serializable(package="keras_vaf")
class FunctionStart(KnownStart):
    """Start at a known function, with every spare hidden unit able to learn.

    Exact for any g: f = g. Exact with g = relu: relu, leaky_relu, linear, hard_tanh,
    relu6, hard_sigmoid, soft_shrink and sparse_sigmoid (any other function made of
    straight lines: `PiecewiseLinearStart`). Exact between sigmoid and tanh, and among
    hard_sigmoid, hard_tanh and relu6. All else is fitted by least squares under the
    standard normal density; `error` tells how well.

    Args:
        function: Name of an element-wise Keras activation, or a registered function
            (or its registered name).

    Raises:
        ValueError: If the function is unknown or does not act on each element alone;
            when called with a k too small to carry the function exactly.

    Reference:
        The paper's "specific weight initialization" (section 4.1), which it does not
        spell out.

    Example:

    >>> start = FunctionStart("tanh")
    >>> start.error(k=3, g="tanh"), start.error(k=9, g="relu") < 0.2
    (0.0, True)
    """

    def __init__(self, function: str | Function) -> None:
        self.function = function
        self._function = get_function(function, "function")

    def target(self, x: np.ndarray) -> np.ndarray:
        """The function to start at, in float64."""
        return evaluate(self._function, x)

    def units(self, k: int, g: Function) -> Values:
        """Start values of one function (see `KnownStart`)."""
        f_name, g_name = name_of(self._function) or "", name_of(g) or ""
        what = f"FunctionStart({self.function!r})"
        if self._function is g:
            return carry([(1, 0, 1)], 0, k, g, what)
        if (f_name, g_name) in _AFFINE:
            carrier, beta_bias = _AFFINE[f_name, g_name]
            return carry([carrier], beta_bias, k, g, what)
        lines = elementwise(self._function).lines
        if g_name == "relu" and lines is not None:
            line = PiecewiseLinearStart(*lines)
            return carry(line.carriers(), line.value, k, g, what)
        return _fitted(self._function, k, g)

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {"function": function_identifier(self.function, "function")}


@functools.lru_cache
def _fitted(function: Function, k: int, g: Function) -> Values:
    """Fit a function once, for all the layers of a model that start at it."""
    return fit(lambda x: evaluate(function, x), k, g)
