"""Kinds of models and layers, such as `is_graph`, their layers and their inputs."""

import os
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

Node = Any
"""A layer or another operation in the graph of a model."""


def is_graph(layer: Node) -> bool:
    """Return whether a layer is a Sequential or Functional model."""
    return isinstance(layer, keras.Sequential) or (
        isinstance(layer, keras.Model) and isinstance(layer, keras.Function)
    )


def is_subclassed(model: keras.Model) -> bool:
    """Return whether a class from outside of Keras creates the layers of a model."""
    makers = (kind for kind in type(model).__mro__ if "__init__" in vars(kind))
    return not next(makers).__module__.startswith("keras.")


def has_own_code(operation: Node) -> bool:
    """Return whether a layer runs code from outside of Keras and this package."""
    if isinstance(operation, keras.layers.Lambda | keras.layers.Wrapper):
        return True
    if not isinstance(operation, keras.layers.Layer):
        return False
    if isinstance(operation, keras.Function | keras.Sequential):
        return False
    module = getattr(type(operation).call, "__module__", "")
    return module.split(".")[0] not in ("keras", "keras_vaf")


def layers_of(
    model: keras.Model, prefix: str = ""
) -> Iterator[tuple[str, keras.layers.Layer]]:
    """Yield the layers of a model and of its nested models, with their paths."""
    for layer in model.layers:
        path = f"{prefix}{layer.name}"
        yield path, layer
        if is_graph(layer):
            yield from layers_of(layer, f"{path}/")


def check_model(model: Any) -> None:
    """Raise a `ValueError` unless the activations of a model can be replaced."""
    if not isinstance(model, keras.Model) or not (model.built and model.weights):
        check_graph(model)


def check_graph(model: Any) -> None:
    """Raise a `ValueError` unless a model is a Sequential or Functional model."""
    if is_graph(model):
        return
    what = f"{model!r} of class {type(model).__name__}"
    if isinstance(model, str | os.PathLike):
        hint = "Load the file with keras.saving.load_model first."
        what = repr(model)
    elif isinstance(model, type):
        hint = "Pass a model, not a class of layers or models."
        what = repr(model)
    elif not isinstance(model, keras.layers.Layer):
        hint = "Give one model."
    else:
        hint = (
            "A model that defines `call` can be converted, but not frozen. "
            "It needs weights (call it on an input first) and a `get_config`."
        )
    raise ValueError(
        f"Expected a Sequential or Functional model. {hint} Received: {what}"
    )


def symbolic_inputs(model: keras.Model) -> Any:
    """Return symbolic inputs of a built model.

    Args:
        model: The model. A model that defines `call` must take one input,
            or one structure of inputs.
    """
    if isinstance(model, keras.Sequential):  # it has no `input` before its first call
        return model.inputs[0]
    if isinstance(model, keras.Function):
        return model.input
    shape = (model.get_build_config() or {}).get("input_shape")
    return keras.tree.map_shape_structure(keras.KerasTensor, shape)


def sample_inputs(model: keras.Model) -> Any:
    """Return four random input samples for a model.

    Axes of unknown size get 32 entries for images and volumes, and 8 otherwise. Inputs
    that may be integers are zero.

    Args:
        model: As for `symbolic_inputs`.
    """
    known = isinstance(model, keras.Sequential | keras.Function)
    random = np.random.default_rng(0)

    def sample(entry: Any) -> np.ndarray:
        unknown = 32 if len(entry.shape) > 3 else 8
        shape = (4, *(size or unknown for size in entry.shape[1:]))
        if known and keras.backend.is_float_dtype(entry.dtype):
            return random.normal(size=shape).astype("float32")
        return np.zeros(shape, entry.dtype)

    return keras.tree.map_structure(sample, symbolic_inputs(model))
