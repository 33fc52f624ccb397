"""Initializer, penalty and configuration of the weights of `TrainableActivation`."""

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.ops.functions import function_identifier
from keras_vaf.regularizers import FunctionRegularizer
from keras_vaf.types import Tensor


class PenaltyOnLayer(keras.regularizers.Regularizer):
    """A penalty on a layer, added to the one on its first trained weight."""

    def __init__(
        self,
        layer: keras.layers.Layer,
        penalty: Callable[[Any], Tensor],
        regularizer: Callable[[Tensor], Tensor] | None,
    ) -> None:
        self.layer = layer
        self.penalty = penalty
        self.regularizer = regularizer

    def __call__(self, weight: Tensor) -> Tensor:
        own = 0.0 if self.regularizer is None else self.regularizer(weight)
        return self.penalty(self.layer) + own


class Constant(keras.initializers.Initializer):
    """A given array as an initializer, which is not saved."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def __call__(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return ops.convert_to_tensor(np.array(self.value, dtype=dtype))


def get_function_regularizer(
    identifier: Any, layer: keras.layers.Layer
) -> Callable[[Any], Tensor] | None:
    """Return the penalty on the function of a layer.

    Args:
        identifier: A callable, its configuration or registered name, or None.
        layer: The layer.

    Raises:
        ValueError: If the argument is not one of these, or is for other layers.
    """
    if isinstance(identifier, dict):
        identifier = keras.saving.deserialize_keras_object(identifier)
    elif isinstance(identifier, str):
        identifier = keras.saving.get_registered_object(identifier) or identifier
    if identifier is not None and not callable(identifier):
        raise ValueError(
            "`function_regularizer` must be a callable that maps the layer to a scalar "
            f"tensor, or None. Received: function_regularizer={identifier!r}"
        )
    if isinstance(identifier, FunctionRegularizer):
        identifier.check_layer(layer)
    return identifier


def to_config(value: Any, argument: str) -> Any:
    """Return an argument of a layer as its configuration holds it."""
    if isinstance(value, FunctionType):
        return function_identifier(value, argument)
    if isinstance(value, tuple) and any(map(callable, value)):
        return [function_identifier(function, argument) for function in value]
    return keras.saving.serialize_keras_object(value)
