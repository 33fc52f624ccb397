"""`PiecewiseLinearStart`, an exact start at piecewise-linear functions."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.limits import Ends
from keras_vaf.initializers.start import KnownStart, Values
from keras_vaf.initializers.units import Carrier, carry, relu_units
from keras_vaf.ops.activations import Lines
from keras_vaf.ops.functions import Function
from keras_vaf.utils import check_integer, check_number, check_numbers


@keras.saving.register_keras_serializable(package="keras_vaf")
class PiecewiseLinearStart(KnownStart):
    """Start at a continuous piecewise-linear function.

    Formula:

    ```
    f(a) = value + slope_0 * (a - knot_1) + sum_{i=1..n} change_i * relu(a - knot_i)
    ```

    change_i is the change of the slope at knot i.

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

    A leaky ReLU of slope 0.3, the absolute value, and ReLU6:

    >>> leaky = PiecewiseLinearStart(knots=[0], slopes=[0.3, 1])
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

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function (see `KnownStart`)."""
        if g is not keras.activations.relu:
            return fit(self, k, g)
        what = f"PiecewiseLinearStart(knots={self.knots}, slopes={self.slopes})"
        return carry(*self.carriers(), k, g, what)

    @property
    def ends(self) -> Ends:
        """The first and the last slope."""
        return self.slopes[0], self.slopes[-1]

    def carriers(self) -> tuple[list[Carrier], float]:
        """Return the units with g = relu and the constant whose sum is the function."""
        return relu_units(Lines(self.knots, self.slopes, self.value))

    def nearest(self, k: int) -> "PiecewiseLinearStart":
        """Return the start at the nearest function of k hidden units with g = relu."""
        lines = _lines(fit(self, check_integer("k", k), keras.activations.relu))
        if len(relu_units(lines)[0]) > k:  # no line is level, which needs a unit more
            lines = _lines(fit(self, k - 1, keras.activations.relu))
        return PiecewiseLinearStart(*lines)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"knots": self.knots, "slopes": self.slopes, "value": self.value}


def _lines(values: Values) -> Lines:
    """Return the lines that hidden units with g = relu add up to."""
    alpha, bias, beta, constant = values
    knots, place = np.unique(-bias / alpha, return_inverse=True)
    changes = np.bincount(place, np.abs(alpha) * beta)
    slopes = np.cumsum([np.minimum(alpha, 0) @ beta, *changes])
    value = np.maximum(alpha * knots[0] + bias, 0) @ beta + constant
    return Lines(tuple(knots.tolist()), tuple(slopes.tolist()), float(value))
