"""`KeepsInputDtype`, by which layers keep the dtype of an input under autocast."""

from typing import Any

import keras

from keras_vaf.types import Tensor


class KeepsInputDtype:
    """A layer that keeps inputs in half precision under `torch.autocast`.

    PyTorch's own activations do so. Keras would cast such an input to the compute dtype
    of the layer, float32, which the gradient would then keep.
    """

    autocast: bool

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        layer: Any = super()
        if not args or not _is_half(args[0]):
            return layer.__call__(*args, **kwargs)
        before, self.autocast = self.autocast, False
        try:
            return layer.__call__(*args, **kwargs)
        finally:
            self.autocast = before


def _is_half(x: Any) -> bool:
    """Return whether a tensor of PyTorch is in half precision under autocast."""
    if keras.backend.backend() != "torch":
        return False
    import torch

    half = isinstance(x, torch.Tensor) and x.dtype in (torch.bfloat16, torch.float16)
    return half and torch.is_autocast_enabled(x.device.type)
