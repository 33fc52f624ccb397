"""How steep a VAF can be at most, and a penalty on it."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.ops.activations import elementwise
from keras_vaf.types import Tensor


def lipschitz_bound(layer: Any) -> np.ndarray:
    """Return a bound on the slope of each function of a VAF.

    No two values of f are further apart than the bound times the distance of their
    arguments. If g is made of straight lines, so is f, and the bound is the slope of
    its steepest line. Otherwise, with c_j = alpha_j beta_j and slopes of g between l
    and h, the slope of f lies between sum_j min(c_j l, c_j h) and sum_j max(c_j l, c_j
    h); the bound is the larger of their absolute values, and may exceed what f reaches.

    Args:
        layer: A built `keras_vaf.layers.VAFActivation`.

    Returns:
        Bounds in the layer's precision, of shape `unshared`: one for each function.

    Raises:
        ValueError: If the layer is no VAF or has no weights yet, or if g is too steep
            (exponential, hard_shrink) or not an activation of Keras.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(k=3, initialization="leaky_relu")
    >>> print(lipschitz_bound(layer))
    1.0
    """
    return ops.convert_to_numpy(_bound(layer))


@keras.saving.register_keras_serializable(package="keras_vaf")
class Lipschitz(keras.regularizers.Regularizer):
    """What the Lipschitz bound of f has above a limit.

    `factor * sum max(0, bound - limit)` over all functions of the layer, with the bound
    of `lipschitz_bound`. Below the limit it does nothing. A network whose layers have
    slopes of at most 1 changes its output no more than its input.

    Args:
        factor: Weight of the penalty.
        limit: Slope from which on it acts.

    Raises:
        ValueError: If an argument is no number, or negative; if the layer that it is
            given to has no bound (see `lipschitz_bound`).

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(
    ...     initialization="relu", function_regularizer=Lipschitz(0.1, limit=0.5)
    ... )
    >>> print(f"{keras.ops.convert_to_numpy(layer.losses[0]):.2f}")
    0.05
    """

    def __init__(self, factor: float = 0.001, limit: float = 1.0) -> None:
        for name, value in (("factor", factor), ("limit", limit)):
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or value < 0
            ):
                raise ValueError(
                    f"`{name}` must be a number that is not negative. "
                    f"Received: {name}={value!r}"
                )
        self.factor = factor
        self.limit = limit

    def __call__(self, layer: Any) -> Tensor:
        """The penalty of a `keras_vaf.layers.VAFActivation`."""
        return self.factor * ops.sum(ops.relu(_bound(layer) - self.limit))

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {"factor": self.factor, "limit": self.limit}


def _bound(layer: Any) -> Tensor:
    if not all(hasattr(layer, name) for name in ("g", "alpha", "beta")):
        raise ValueError(
            "A bound on the slope is known for a VAFActivation that has its weights: "
            f"call it, or build it, first. Received: layer={layer!r}"
        )
    return (
        _steepest_line(layer) if elementwise(layer.g).knots else _bound_of_units(layer)
    )


def _steepest_line(layer: Any) -> Tensor:
    """The largest slope, each taken at a place between neighbouring knots."""
    alpha, alpha_bias, beta = map(
        ops.convert_to_tensor, (layer.alpha, layer.alpha_bias, layer.beta)
    )
    divisor = ops.where(alpha == 0, ops.ones_like(alpha), alpha)
    knots = [(knot - alpha_bias) / divisor for knot in elementwise(layer.g).knots]
    places = ops.sort(ops.concatenate(knots, axis=-1), axis=-1)
    first, last = places[..., :1], places[..., -1:]
    between = (places[..., 1:] + places[..., :-1]) / 2
    ends = (first - 1 - ops.abs(first), last + 1 + ops.abs(last))
    places = ops.concatenate([ends[0], between, ends[1]], axis=-1)
    x = ops.stop_gradient(places)[..., None]
    hidden = alpha[..., None, :] * x + alpha_bias[..., None, :]
    slopes = elementwise(layer.g).slope(hidden, layer.g(hidden))
    product = (alpha * beta)[..., None, :]
    return ops.max(ops.abs(ops.sum(product * slopes, axis=-1)), axis=-1)


def _bound_of_units(layer: Any) -> Tensor:
    """The slope if all hidden units were steepest at the same place."""
    slopes = elementwise(layer.g).slopes
    if slopes is None or slopes.highest == math.inf:
        raise ValueError(
            "There is no bound on the slope of g: choose another element-wise "
            f"activation of Keras. Received: g={layer.g!r}"
        )
    product = layer.alpha * layer.beta
    ends = (product * slopes.lowest, product * slopes.highest)
    lowest = ops.sum(ops.minimum(*ends), axis=-1)
    highest = ops.sum(ops.maximum(*ends), axis=-1)
    return ops.maximum(ops.abs(lowest), ops.abs(highest))
