"""`FunctionStart`, which starts a VAF at a known function."""

import math
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.limits import Ends, ends_of
from keras_vaf.initializers.start import KnownStart, Values
from keras_vaf.initializers.units import Carrier, carry, relu_units
from keras_vaf.ops.activations import Lines, elementwise, name_of
from keras_vaf.ops.functions import (
    Function,
    evaluate,
    function_identifier,
    get_function,
)

# A unit and a constant per (f, g): f(x) = beta g(alpha x + alpha_bias) + beta_bias.
_AFFINE: dict[tuple[str | None, str | None], tuple[Carrier, float]] = {
    ("celu", "elu"): ((1, 0, 1), 0),
    ("cos", "sin"): ((1, math.pi / 2, 1), 0),
    ("elu", "celu"): ((1, 0, 1), 0),
    ("log_sigmoid", "softplus"): ((-1, 0, -1), 0),
    ("sigmoid", "tanh"): ((1 / 2, 0, 1 / 2), 1 / 2),
    ("sin", "cos"): ((1, -math.pi / 2, 1), 0),
    ("softplus", "log_sigmoid"): ((-1, 0, -1), 0),
    ("tanh", "sigmoid"): ((2, 0, 2), -1),
}


@keras.saving.register_keras_serializable(package="keras_vaf")
class FunctionStart(KnownStart):
    """Start at a known function, with every spare hidden unit able to learn.

    Formula:

    ```
    f(a) = function(a)     (exactly, or with a small largest error)
    ```

    The start is exact in these cases:

    - The function is g.
    - g is relu and the function is piecewise linear: relu, leaky_relu, linear,
      hard_tanh, relu6, hard_sigmoid, soft_shrink or sparse_sigmoid. For other such
      functions use `PiecewiseLinearStart`.
    - Both are among relu6, hard_tanh, hard_sigmoid and sparse_sigmoid.
    - They are tanh and sigmoid, softplus and log_sigmoid, sin and cos, or elu and celu,
      in either order.
    - The function is square and g is relu_squared, with k of at least 2.

    All other functions are fitted with a small largest error. If the function
    approaches lines far left and far right, f has their slopes there, provided that k
    units of g can have them. With g = relu the largest error is at most 1.5
    times that of the best lines. The error does not grow with k. `error` returns it.

    Args:
        function: Name of an element-wise Keras activation, or a registered function
            (or its registered name).

    Raises:
        ValueError: If the function is unknown or not element-wise. When called, if the
            start is exact and k is too small for it.

    Reference:
        The "specific weight initialization" of the paper (section 4.1), which gives no
        details.

    Example:

    >>> start = FunctionStart("tanh")
    >>> start.error(k=3, g="tanh")
    Errors(largest=0.0, left=0.0, right=0.0)
    >>> start.error(k=4, g="relu").largest < 0.04
    True
    """

    def __init__(self, function: str | Function = "relu") -> None:
        self._function = get_function(function, "function", saved=False)
        self.function = function if isinstance(function, str) else self._function

    def target(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the function to start at, in float64."""
        return evaluate(self._function, x)

    @property
    def ends(self) -> Ends:
        """Slopes of the lines that the function approaches far left and far right."""
        return ends_of(self._function)

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function (see `KnownStart`)."""
        exact = _exact(self._function, g)
        if exact is None:
            return fit(self, k, g)
        return carry(*exact, k, g, f"FunctionStart({self.function!r})")

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"function": function_identifier(self.function, "function")}


def _exact(function: Function, g: Function) -> tuple[list[Carrier], float] | None:
    """Return units and a constant whose sum is the function exactly, if known."""
    if function is g:
        return [(1, 0, 1)], 0
    names = name_of(function), name_of(g)
    if names in _AFFINE:
        carrier, constant = _AFFINE[names]
        return [carrier], constant
    if names == ("square", "relu_squared"):
        return [(1, 0, 1), (-1, 0, 1)], 0
    lines, lines_of_g = elementwise(function).lines, elementwise(g).lines
    if lines is None or lines_of_g is None:
        return None
    if names[1] == "relu":
        return relu_units(lines)
    return _clip(lines, lines_of_g)


def _clip(lines: Lines, of_g: Lines) -> tuple[list[Carrier], float] | None:
    """Return a unit and a constant if both functions rise between two constants."""
    for knots, slopes, _ in (lines, of_g):
        if len(knots) != 2 or slopes[0] or slopes[2]:
            return None
    (start, end), (g_start, g_end) = lines.knots, of_g.knots
    alpha = (g_end - g_start) / (end - start)
    beta = lines.slopes[1] / (alpha * of_g.slopes[1])
    unit = (alpha, g_start - alpha * start, beta)
    return [unit], lines.value - beta * of_g.value
