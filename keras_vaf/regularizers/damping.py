"""`Damping`, a penalty on the distance of a spline from its start."""

from typing import Any

import keras
from keras import ops

from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Damping(FunctionRegularizer):
    """Penalize the distance of the control points of a spline from their start.

    Formula:

    ```
    penalty = factor * sum_{i=1..q} (p_i - start_i)^2
    ```

    The penalty is summed over all functions of a `keras_vaf.layers.SplineActivation`
    with the control points p_i. It damps oscillations caused by single control points.

    Args:
        factor: Weight of the penalty, 0 or more.

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

    layers = ("SplineActivation",)

    def penalty(self, layer: Any) -> Tensor:
        """Return the sum of squared distances."""
        shape, dtype = layer.points.shape, layer.points.dtype
        if layer.points_initializer is None:
            start = ops.convert_to_tensor(layer.start(shape[:-1])[0], dtype)
        else:  # its seed is fixed, so that it returns the same points again
            start = layer.points_initializer(shape, dtype=dtype)
        return ops.sum(ops.square(layer.points - start))
