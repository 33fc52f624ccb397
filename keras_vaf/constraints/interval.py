"""`Interval`, a constraint that keeps weights between two bounds."""

from typing import Any

import keras
from keras import ops

from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class Interval(keras.constraints.Constraint):
    """Keep each weight in an interval.

    Formula:

    ```
    w = max(minimum, min(maximum, w))
    ```

    Unlike `keras.constraints.NonNeg`, an interval can exclude 0, which matters for
    weights that a layer divides by.

    Args:
        minimum: Lower bound, or `None`.
        maximum: Upper bound, or `None`.

    Raises:
        ValueError: If both bounds are `None`, if a bound is not a finite number, or if
            `minimum` is above `maximum`.

    Example:

    >>> weights = Interval(minimum=0.1)(keras.ops.array([-3.0, 0.5]))
    >>> print(keras.ops.convert_to_numpy(weights))
    [0.1 0.5]
    """

    def __init__(
        self, minimum: float | None = None, maximum: float | None = None
    ) -> None:
        if minimum is not None:
            minimum = check_number("minimum", minimum)
        if maximum is not None:
            maximum = check_number("maximum", maximum)
        bounds = [bound for bound in (minimum, maximum) if bound is not None]
        if not bounds or bounds[0] > bounds[-1]:
            raise ValueError(
                "An interval needs a bound, and `minimum` must not be above `maximum`. "
                f"Received: minimum={minimum!r}, maximum={maximum!r}"
            )
        self.minimum = minimum
        self.maximum = maximum

    def __call__(self, value: Tensor) -> Tensor:
        """Return the nearest values in the interval."""
        if self.minimum is not None:
            value = ops.maximum(value, ops.cast(self.minimum, value.dtype))
        if self.maximum is not None:
            value = ops.minimum(value, ops.cast(self.maximum, value.dtype))
        return value

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"minimum": self.minimum, "maximum": self.maximum}
