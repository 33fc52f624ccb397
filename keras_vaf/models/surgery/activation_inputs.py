"""What enters the trainable activations of a model."""

from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.models.surgery.cloning import Node, Swap, rebuild
from keras_vaf.models.surgery.fixed_activations import has_built_in
from keras_vaf.types import Tensor

_BATCH = 256
_QUANTILES = np.linspace(0, 1, 1001)


def entering_values(model: keras.Model, data: Any) -> dict[str, np.ndarray]:
    """Run a model and return what enters each trainable activation.

    Args:
        model: A Sequential or Functional model.
        data: Its inputs: arrays, in the structure that the model takes.

    Returns:
        1001 evenly spaced quantiles by the path of the layer, of at most some ten
        thousand values of each batch.
    """
    recorders: dict[str, _Recorder] = {}

    def swap(layer: Node, path: str) -> Swap | None:
        given = has_built_in(layer)
        activation = layer.activation if given else layer
        if not isinstance(activation, TrainableActivation):
            return None
        recorders[path] = _Recorder(activation, name=f"{layer.name}_recorder")
        recorder = recorders[path]
        return Swap(linear=True, then=recorder) if given else Swap(recorder)

    watched = rebuild(model, swap, compiled=False)
    arrays = keras.tree.map_structure(np.asarray, data)
    for start in range(0, len(keras.tree.flatten(arrays)[0]), _BATCH):
        part = slice(start, start + _BATCH)
        watched(keras.tree.map_structure(lambda a: a[part], arrays), training=False)  # noqa: B023
    return {
        path: np.quantile(np.concatenate(recorder.values), _QUANTILES)
        for path, recorder in recorders.items()
        if recorder.values
    }


class _Recorder(keras.layers.Layer):
    """Calls an activation and keeps a part of what enters it."""

    def __init__(self, activation: TrainableActivation, name: str) -> None:
        super().__init__(name=name, dtype=activation.dtype_policy)
        self.activation = activation
        self.values: list[np.ndarray] = []

    def call(self, inputs: Tensor) -> Tensor:
        """Record, and apply the activation."""
        flat = keras.ops.convert_to_numpy(inputs).ravel().astype("float64")
        self.values.append(flat[:: max(1, len(flat) // 10_000)])
        return self.activation(inputs)

    def compute_output_shape(
        self, input_shape: tuple[int | None, ...]
    ) -> tuple[int | None, ...]:
        """Say the shape, so that Keras need not trace `call` to know it."""
        return input_shape
