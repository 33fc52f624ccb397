"""`Lipschitz`, a penalty on steep VAFs, and `lipschitz_bound`, a bound on the slope."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.ops.slope_bound import check_slopes, slope_bound
from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


def lipschitz_bound(layer: Any) -> np.ndarray:
    """Return a bound on the slope of each function of a VAF.

    For all x and y, |f(x) - f(y)| <= bound * |x - y|. If g is piecewise linear, so is
    f, and the bound is the slope of its steepest line. Otherwise, with c_j = alpha_j
    beta_j and slopes of g between l and h, the slope of f lies between sum_j min(c_j l,
    c_j h) and sum_j max(c_j l, c_j h); the bound is the larger of their absolute
    values. It may exceed the largest slope of f.

    Args:
        layer: A built `keras_vaf.layers.VAFActivation`.

    Returns:
        One bound per function, as an array of shape `unshared` in the layer's
        precision.

    Raises:
        ValueError: If the layer is not a VAF or has no weights yet, or if the slope of
            g is unbounded (exponential, hard_shrink, relu_squared, square) or unknown.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(k=3, initialization="leaky_relu")
    >>> print(lipschitz_bound(layer))
    1.0
    """
    return ops.convert_to_numpy(_bound(layer))


@keras.saving.register_keras_serializable(package="keras_vaf")
class Lipschitz(FunctionRegularizer):
    """Penalize the excess of the Lipschitz bound of a VAF over a limit.

    Formula:

    ```
    penalty = factor * max(0, bound - limit)
    ```

    The penalty is summed over all functions of the layer, with the bound of
    `lipschitz_bound`. If all layers of a network have slopes of at
    most 1, its output changes at most as much as its input.

    Args:
        factor: Weight of the penalty, 0 or more.
        limit: Largest slope that is not penalized, 0 or more.

    Raises:
        ValueError: If an argument is not a finite number of at least 0, or if the layer
            has no bound (see `lipschitz_bound`).

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(
    ...     initialization="relu", function_regularizer=Lipschitz(0.1, limit=0.5)
    ... )
    >>> print(f"{keras.ops.convert_to_numpy(layer.losses[0]):.2f}")
    0.05
    """

    layers = ("VAFActivation",)

    def __init__(self, factor: float = 0.001, limit: float = 1.0) -> None:
        super().__init__(factor)
        self.limit = check_number("limit", limit, minimum=0)

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if a layer has no bound."""
        super().check_layer(layer)
        check_slopes(layer.g)

    def penalty(self, layer: Any) -> Tensor:
        """Return the sum of the excesses of the bounds over the limit."""
        return ops.sum(ops.relu(_bound(layer) - self.limit))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "limit": self.limit}


def _bound(layer: Any) -> Tensor:
    if not hasattr(layer, "g") or not layer.weights:
        raise ValueError(
            "A bound on the slope needs a VAFActivation that has its weights: call it, "
            f"or build it, first. Received: layer={layer!r}"
        )
    alpha, alpha_bias, beta, _ = layer.effective_weights()
    return slope_bound(layer.g, alpha, alpha_bias, beta).value
