"""Where a function made of straight lines bends."""

from typing import Any

import keras
import numpy as np

# Knots of Keras's piecewise-linear activations.
_KNOTS = {
    "relu": (0.0,),
    "leaky_relu": (0.0,),
    "relu6": (0.0, 6.0),
    "hard_tanh": (-1.0, 1.0),
    "hard_sigmoid": (-3.0, 3.0),
    "sparse_sigmoid": (-1.0, 1.0),
    "soft_shrink": (-0.5, 0.5),
}


def knots(layer: Any) -> np.ndarray:
    """Return the sorted knots of the one function of a layer.

    A hidden unit whose g bends at t bends at `(t - alpha_bias) / alpha`. Units that
    multiply the input, or are multiplied, by 0 have no knot.

    Args:
        layer: A trainable activation that shares one function.

    Returns:
        The knots; none if g is not made of straight lines.
    """
    name = getattr(getattr(layer, "g", None), "__name__", "")
    if name not in _KNOTS:
        return np.zeros(0)
    alpha, bias, beta = (
        keras.ops.convert_to_numpy(weight).astype(np.float64)
        for weight in (layer.alpha, layer.alpha_bias, layer.beta)
    )
    live = (alpha != 0) & (beta != 0)
    places = np.subtract.outer(_KNOTS[name], bias[live]) / alpha[live]
    return np.sort(places.ravel())
