"""`lipschitz_bound`, a bound on the slope of a VAF."""

from typing import Any

import numpy as np
from keras import ops

from keras_vaf.ops.slope_bound import slope_bound
from keras_vaf.types import Tensor


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


def _bound(layer: Any) -> Tensor:
    if not hasattr(layer, "g") or not layer.weights:
        raise ValueError(
            "A bound on the slope needs a VAFActivation that has its weights: call it, "
            f"or build it, first. Received: layer={layer!r}"
        )
    alpha, alpha_bias, beta, _ = layer.effective_weights()
    return slope_bound(layer.g, alpha, alpha_bias, beta).value
