"""`is_torch_module`, which recognizes modules of PyTorch that are not Keras layers."""

from typing import Any

import keras


def is_torch_module(model: Any) -> bool:
    """Return whether a model is a `torch.nn.Module` and not a layer of Keras.

    Args:
        model: Any object.
    """
    if keras.backend.backend() != "torch" or isinstance(model, keras.layers.Layer):
        return False
    import torch

    return isinstance(model, torch.nn.Module)
