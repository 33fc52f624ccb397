"""`SlopeVariation`, a penalty on the bends of a VAF."""

from typing import Any

import keras
from keras import ops

from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class SlopeVariation(FunctionRegularizer):
    """Penalize the total variation of the slope of a VAF.

    The penalty is `factor * sum_j |alpha_j beta_j|` over all functions of a
    `keras_vaf.layers.VAFActivation`. With g = relu each hidden unit bends f at its knot
    by |alpha_j beta_j|, so the sum bounds the total variation of f's slope. It favours
    functions with few bends. Unlike a penalty on the weights, it stays the same when
    alpha_j grows and beta_j shrinks by one factor.

    Args:
        factor: Weight of the penalty, 0 or more.

    Raises:
        ValueError: If the factor is not such a number, or if the layer is of another
            class.

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
