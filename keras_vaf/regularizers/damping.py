"""A penalty on the way from where an activation started."""

from typing import Any

import keras
from keras import ops

from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Damping(keras.regularizers.Regularizer):
    """Distance of the control points of a spline from their start.

    `factor * sum_i (points_i - start_i)^2`, over all functions of the layer. It damps
    the oscillations that single control points would bring in.

    Args:
        factor: Weight of the penalty.

    Raises:
        ValueError: If the factor is no number, or negative.

    Reference:
        Scardapane et al., *Learning activation functions from data using cubic spline
        interpolation*, 2016.

    Example:

    >>> layer = keras_vaf.layers.SplineActivation(
    ...     sharing="layer", function_regularizer=Damping(0.1)
    ... )
    >>> layer.set_weights([layer.get_weights()[0] + 1])
    >>> print(f"{keras.ops.convert_to_numpy(layer.losses[0]):.2f}")
    2.10
    """

    def __init__(self, factor: float = 0.001) -> None:
        if (
            isinstance(factor, bool)
            or not isinstance(factor, int | float)
            or factor < 0
        ):
            raise ValueError(
                "`factor` must be a number that is not negative. "
                f"Received: factor={factor!r}"
            )
        self.factor = factor

    def __call__(self, layer: Any) -> Tensor:
        """The penalty of a `keras_vaf.layers.SplineActivation`."""
        (start,) = layer.start(layer.points.shape[:-1])
        start = ops.convert_to_tensor(start, layer.points.dtype)
        return self.factor * ops.sum(ops.square(layer.points - start))

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {"factor": self.factor}
