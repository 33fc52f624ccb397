"""`read`, which finds the trainable activations of a model and their inputs."""

from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, activation_inputs
from keras_vaf.layers.activation_inputs import check_finite_inputs


def functions_on_torch(model: Any) -> Any:
    """Return `modules_on_torch` for a module of PyTorch, and `None` for any other."""
    if keras.backend.backend() != "torch" or isinstance(model, keras.layers.Layer):
        return None
    import torch

    from keras_vaf.models import modules_on_torch

    return modules_on_torch if isinstance(model, torch.nn.Module) else None


def read(
    model: Any, data: Any = None, *options: Any
) -> tuple[dict[str, TrainableActivation], dict[str, np.ndarray]]:
    """Return trainable activations by their paths, and with data their inputs.

    Those of a module of PyTorch are layers with the functions of its VAFs. The options
    are further arguments of `activation_inputs`.

    Raises:
        ValueError: If there is no trainable activation, or if an input is not finite.
    """
    reader = functions_on_torch(model) or activation_inputs
    layers = reader.trainable_activations(model)
    if data is None:
        return layers, {}
    inputs = reader.activation_inputs(model, data, *options)
    check_finite_inputs(inputs)
    return layers, inputs
