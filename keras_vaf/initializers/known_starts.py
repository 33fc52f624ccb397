"""`FunctionStart`, `GStart` and `PiecewiseLinearStart`: starts at known functions."""

import math
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.start import (
    Ends,
    Errors,
    KnownStart,
    Start,
    Values,
    ends_of,
)
from keras_vaf.initializers.units import Carrier, carry, relu_units
from keras_vaf.ops.activations import Lines, elementwise, name_of
from keras_vaf.ops.functions import (
    Function,
    evaluate,
    function_identifier,
    get_function,
)
from keras_vaf.utils import check_number, check_numbers

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
    f(a) = function(a)     (exactly, or with a small error)
    ```

    The start is exact if the function is g; if g is relu and the function is made of
    lines (relu, leaky_relu, linear, hard_tanh, relu6, hard_sigmoid, soft_shrink,
    sparse_sigmoid); if both are among relu6, hard_tanh, hard_sigmoid and
    sparse_sigmoid; if they are tanh and sigmoid, softplus and log_sigmoid, sin and cos,
    or elu and celu; and for square with g = relu_squared and k of at least 2.

    All other functions are fitted: the mean square of the errors is least over a
    density of inputs with wide tails, 70 % N(0, 1.5) and 30 % N(0, 4). It does
    not grow with k. If the function approaches lines far left and far right, f has
    their slopes there, and if it goes to 0, f is exactly 0 there, provided that k units
    of g can do so. `error(k, g)` returns the largest error on [-8, 8].

    Args:
        function: Name of an element-wise Keras activation, or a registered function
            (or its registered name).

    Raises:
        ValueError: If the function is unknown or not element-wise. When called, if the
            start is exact and k is too small for it.

    Reference:
        The "specific weight initialization" of the paper, section 4.1.

    Example:

    >>> FunctionStart("tanh").error(k=4, g="relu").largest < 0.05
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

    def fitted(self, g: Function) -> bool:
        """Return whether units of g fit the function, instead of being equal to it."""
        return _exact(self._function, g) is None

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function: `(k,)`, `(k,)`, `(k,)` and `()`."""
        exact = _exact(self._function, g)
        if exact is None:
            return fit(self, k, g)
        return carry(*exact, k, g, f"FunctionStart({self.function!r})")

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"function": function_identifier(self.function, "function")}


@keras.saving.register_keras_serializable(package="keras_vaf")
class GStart(Start):
    """Start at g itself: f = g, for every g and every k.

    One hidden unit computes g. All others are spare units, which have beta = 0 and can
    learn. `initialization="g"` selects this start.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(g="relu6", initialization="g")
    >>> print(layer.function([-1, 3, 9]))
    [0. 3. 6.]
    """

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Return the start values of every function of a layer (see `Start`)."""
        return self.known(g)(unshared, k, g)

    def known(self, g: str | Function) -> FunctionStart:
        """Return the start at g (see `Start`)."""
        return FunctionStart(g)

    def error(self, k: int, g: str | Function = "relu") -> Errors:
        """Return the error of f, which is 0, as `Errors`."""
        return self.known(g).error(k, g)


@keras.saving.register_keras_serializable(package="keras_vaf")
class PiecewiseLinearStart(KnownStart):
    """Start at a continuous piecewise-linear function.

    Formula:

    ```
    f(a) = value + slope_0 * (a - knot_1) + sum_{i=1..n} change_i * relu(a - knot_i)
    ```

    With g = relu the start is exact. It needs one hidden unit per change of slope, and
    an additional unit if none of the lines is horizontal. With any other g the function
    is fitted.

    Args:
        knots: Points where the slope changes, in ascending order.
        slopes: Slope left of the first knot, between knots, and right of the last knot.
        value: Value at the first knot.

    Raises:
        ValueError: If `slopes` does not have one entry more than `knots`, if the knots
            are not in ascending order, or if a number is not finite.

    Example:

    >>> absolute = PiecewiseLinearStart(knots=[0], slopes=[-1, 1])
    >>> relu6 = PiecewiseLinearStart(knots=[0, 6], slopes=[0, 1, 0])
    >>> relu6.error(k=2, g="relu").largest < 1e-12
    True
    """

    def __init__(
        self,
        knots: Sequence[float] = (0.0,),
        slopes: Sequence[float] = (0.0, 1.0),
        value: float = 0.0,
    ) -> None:
        self.knots = check_numbers("knots", knots)
        self.slopes = check_numbers("slopes", slopes)
        self.value = float(check_number("value", value))
        if not self.knots or len(self.slopes) != len(self.knots) + 1:
            raise ValueError(
                "`slopes` must have one entry more than `knots`, which must not be "
                f"empty. Received: knots={knots}, slopes={slopes}"
            )
        if any(a >= b for a, b in zip(self.knots, self.knots[1:], strict=False)):
            raise ValueError(f"`knots` must ascend. Received: knots={knots}")

    def target(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the function to start at, in float64."""
        y = self.value + self.slopes[0] * np.minimum(x - self.knots[0], 0)
        ends = (*self.knots[1:], np.inf)
        for knot, end, slope in zip(self.knots, ends, self.slopes[1:], strict=True):
            y = y + slope * np.clip(x - knot, 0, end - knot)
        return y

    def fitted(self, g: Function) -> bool:
        """Return whether units of g fit the function, instead of being equal to it."""
        return g is not keras.activations.relu

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function: `(k,)`, `(k,)`, `(k,)` and `()`."""
        if self.fitted(g):
            return fit(self, k, g)
        what = f"PiecewiseLinearStart(knots={self.knots}, slopes={self.slopes})"
        return carry(*self.carriers(), k, g, what)

    def carriers(self) -> tuple[list[Carrier], float]:
        """Return the units with g = relu and the constant whose sum is the function."""
        return relu_units(Lines(self.knots, self.slopes, self.value))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"knots": self.knots, "slopes": self.slopes, "value": self.value}


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
