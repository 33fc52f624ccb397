"""`SlopeVariation`, a penalty on the changes of slope of a VAF."""

from typing import Any

import keras
from keras import ops

from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class SlopeVariation(FunctionRegularizer):
    """Penalize the total variation of the slope of a VAF.

    Formula:

    ```
    penalty = factor * sum_{j=1..k} |alpha_j * beta_j|
    ```

    The penalty is summed over all functions of a `keras_vaf.layers.VAFActivation`. With
    g = relu, each hidden unit changes the slope of f by |alpha_j beta_j| at its knot,
    so the sum bounds the total variation of the slope and favours few knots. It does
    not change if alpha_j is multiplied and beta_j divided by the same factor.

    Args:
        factor: Weight of the penalty, 0 or more.

    Reference:
        Bohra et al., *Learning activation functions in deep (spline) neural networks*,
        2020 (second-order total variation).

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(
    ...     k=3, initialization="relu", function_regularizer=SlopeVariation(0.01)
    ... )
    >>> print(f"{keras.ops.convert_to_numpy(layer.losses[0]):.2f}")
    0.01
    """

    layers = ("VAFActivation",)

    def penalty(self, layer: Any) -> Tensor:
        """Return sum_j |alpha_j beta_j| over all functions of the layer."""
        return ops.sum(ops.abs(layer.alpha * layer.beta))
