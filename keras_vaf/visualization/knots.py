"""`knots`, which finds the knots of a piecewise-linear function."""

from typing import Any

import numpy as np

from keras_vaf.ops.activations import elementwise


def unit_knots(layer: Any) -> np.ndarray | None:
    """Return the knots of each function of a layer, by hidden unit.

    If g has a knot at t, a hidden unit has its knot at `(t - alpha_bias) / alpha`.

    Args:
        layer: A trainable activation with weights.

    Returns:
        An array of shape `(*unshared, knots)`, with NaN for units whose alpha or beta
        is 0. `None` if g is not piecewise linear.
    """
    g = getattr(layer, "g", None)
    if g is None or not elementwise(g).knots:
        return None
    alpha, bias, beta, _ = (np.asarray(w, "float64") for w in layer.get_weights())
    alpha = np.where((alpha != 0) & (beta != 0), alpha, np.nan)
    places = np.stack([(t - bias) / alpha for t in elementwise(g).knots], axis=-1)
    return places.reshape(*alpha.shape[:-1], -1)


def knots(layer: Any) -> np.ndarray:
    """Return the sorted knots of the shared function of a layer.

    Args:
        layer: A trainable activation with a single function.

    Returns:
        The knots. The array is empty if g is not piecewise linear.
    """
    places = unit_knots(layer)
    return np.zeros(0) if places is None else np.sort(places[~np.isnan(places)])
