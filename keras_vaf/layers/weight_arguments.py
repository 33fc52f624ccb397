"""Arguments of trainable activations: their names, and those of each weight."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers import Start
from keras_vaf.ops.activations import name_of
from keras_vaf.ops.functions import (
    check_can_be_found,
    evaluate,
    function_identifier,
)
from keras_vaf.types import Tensor
from keras_vaf.utils import did_you_mean

_OF_EVERY_LAYER = (
    *("activity_regularizer", "autocast", "batch_input_shape", "dtype", "input_dim"),
    *("input_shape", "name", "trainable"),
)


def regularizer_of(layer: Any, name: str) -> Callable[[Tensor], Tensor] | None:
    """Return the penalty on a weight of a layer.

    Keras sums the regularizers of all trained weights, wherever the layer is nested and
    however the training step is compiled. Therefore the penalty on the function is
    added to the regularizer of the first weight.
    """
    regularizer = getattr(layer, f"{name}_regularizer")
    fixed = layer.non_trainable_weight_names
    first = next(name for name in layer.weight_names if name not in fixed)
    if layer.function_regularizer is None or name != first:
        return regularizer
    return _BothPenalties(layer, regularizer)


class _BothPenalties(keras.Regularizer):  # before Keras 3.15, a variable takes no other
    def __init__(self, layer: Any, regularizer: Any) -> None:
        self.layer, self.regularizer = layer, regularizer

    def __call__(self, weight: Tensor) -> Tensor:
        own = 0.0 if self.regularizer is None else self.regularizer(weight)
        return self.layer.function_regularizer(self.layer) + own


def get_slot(argument: str, identifier: Any) -> Any:
    """Return the regularizer, constraint or initializer that an argument means."""
    if isinstance(identifier, str):  # Keras finds registered initializers only
        identifier = keras.saving.get_registered_object(identifier) or identifier
    kind = argument.rpartition("_")[2]
    found = getattr(keras, f"{kind}s").get(identifier)
    if isinstance(found, Start):
        raise ValueError(
            f"`{argument}` must be an initializer of one weight. A start sets all four "
            "weights of a VAF: use the argument `initialization`. "
            f"Received: {argument}={identifier!r}"
        )
    check_can_be_found(found, argument)
    return found


def initial_value(layer: Any, name: str, value: np.ndarray, dtype: str) -> np.ndarray:
    """Return the start of a weight: `value`, unless the layer has an initializer."""
    initializer = getattr(layer, f"{name}_initializer")
    if initializer is None:
        return value
    made = evaluate(lambda: initializer(value.shape, dtype=dtype))
    if made.shape != value.shape:
        raise ValueError(
            f"`{name}_initializer` must return a tensor of shape {value.shape}. "
            f"Received: a tensor of shape {made.shape}"
        )
    return made


def to_config(value: Any, argument: str) -> Any:
    """Return an argument of a layer in the form that its configuration stores."""
    if callable(value) and not hasattr(value, "get_config"):
        return function_identifier(value, argument)
    if isinstance(value, tuple) and any(map(callable, value)):
        return [function_identifier(function, argument) for function in value]
    return keras.saving.serialize_keras_object(value)


def check_names(layer: Any, kwargs: dict[str, Any], hints: Sequence[str]) -> None:
    """Raise a `ValueError` for an argument that neither the class nor Keras has."""
    known = [*hints, *_OF_EVERY_LAYER]
    for name, value in kwargs.items():
        if name not in _OF_EVERY_LAYER:
            raise ValueError(
                f"{type(layer).__name__} does not have an argument of this name."
                f"{did_you_mean(name, sorted(known))} "
                f"Received: {name}={value!r}"
            )


def shown(value: Any) -> str:
    """Return an argument of a layer as text."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, str):
        return value
    name = name_of(value) or getattr(value, "__name__", "") if callable(value) else ""
    return name or repr(value)
