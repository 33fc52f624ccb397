"""A penalty on the knots of a piecewise-linear function."""

from typing import Any

import keras
from keras import ops

from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class SlopeVariation(keras.regularizers.Regularizer):
    """Total variation of the slope of f: `factor * sum_j |alpha_j beta_j|`.

    With g = relu each hidden unit bends f at its knot by |alpha_j beta_j|, so the sum
    bounds the total variation of f's slope; it favours functions with few bends. It
    does not change when alpha_j grows and beta_j shrinks by the same factor, as a
    penalty on the weights alone would.

    Args:
        factor: Weight of the penalty.

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
        """The penalty of a layer with weights `alpha` and `beta`."""
        return self.factor * ops.sum(ops.abs(layer.alpha * layer.beta))

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {"factor": self.factor}
