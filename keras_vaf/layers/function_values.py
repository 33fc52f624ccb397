"""`function_values` computes a learned function outside of the network."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from keras import ops

from keras_vaf.ops.functions import evaluate
from keras_vaf.ops.layout import Layout
from keras_vaf.types import Tensor


def function_values(
    layer: Any,
    unshared_axes: Sequence[int],
    allowed: Callable[..., Sequence[Tensor]],
    x: Any,
) -> np.ndarray:
    """Return values of the functions of a trainable activation, in float64.

    Args:
        layer: The layer.
        unshared_axes: Axes of the input along which the function is not shared.
        allowed: Maps the weights to those that the layer computes with.
        x: Number or array of any shape.

    Returns:
        f(x) of all functions, of shape `(*x.shape, *unshared)`.

    Raises:
        ValueError: If the layer has no weights yet.
    """
    weights = _weights_of(layer)
    x = np.asarray(x, "float64")
    count = len(unshared_axes)
    rank = x.ndim + count
    layout = Layout(rank, tuple(range(x.ndim, rank)))

    def value(x: Tensor, *weights: Tensor) -> Tensor:
        return layer.equation.value(x, *map(layout.align, allowed(*weights)))

    y = evaluate(value, x.reshape((*x.shape, *[1] * count)), *weights)
    return np.broadcast_to(y, (*x.shape, *weights[-1].shape[:count])).copy()


def _weights_of(layer: Any) -> list[np.ndarray]:
    if not hasattr(layer, layer.weight_names[0]):
        hint = "build it, or call it on an input, first."
        raise ValueError(f"The layer {layer.name!r} has no weights yet; {hint}")
    weights = (getattr(layer, name) for name in layer.weight_names)
    return [ops.convert_to_numpy(weight.value) for weight in weights]
