"""The function of a trainable activation: its values, and the precision it keeps."""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

from keras_vaf.ops.equation import Layout
from keras_vaf.ops.functions import evaluate
from keras_vaf.types import Tensor


def values_of(layer: Any, x: np.ndarray) -> np.ndarray:
    """Return f(x) of all functions of a layer (see `TrainableActivation.function`)."""
    if not hasattr(layer, layer.weight_names[0]):
        raise ValueError(
            f"The layer {layer.name!r} has no weights yet; build it, or call it on "
            "an input, first."
        )
    weights = [
        keras.ops.convert_to_numpy(getattr(layer, n)) for n in layer.weight_names
    ]
    count = len(layer._unshared_axes)
    rank = x.ndim + count
    layout = Layout(rank, tuple(range(x.ndim, rank)))

    def value(x: Tensor, *weights: Tensor) -> Tensor:
        return layer.equation.value(x, *map(layout.align, weights))

    y = evaluate(value, x.reshape((*x.shape, *[1] * count)), *weights)
    return np.broadcast_to(y, (*x.shape, *weights[-1].shape[:count])).copy()


@contextlib.contextmanager
def kept_in_half(layer: Any, args: tuple[Any, ...]) -> Iterator[None]:
    """Keep an input in half precision under `torch.autocast` as it is.

    PyTorch's own activations do so. Keras would cast it to float32, the compute dtype
    of the layer, which the gradient would then keep.
    """
    if not args or not _is_half(args[0]):
        yield
        return
    before, layer.autocast = layer.autocast, False
    try:
        yield
    finally:
        layer.autocast = before


def _is_half(x: Any) -> bool:
    if keras.backend.backend() != "torch":
        return False
    import torch

    half = isinstance(x, torch.Tensor) and x.dtype in (torch.bfloat16, torch.float16)
    return half and torch.is_autocast_enabled(x.device.type)
