"""`check_graph` and other checks of the kind of a model."""

import os
from typing import Any

import keras

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


def subclassed_models(model: keras.Model) -> list[keras.Model]:
    """Return the outermost subclassed models in a Sequential or Functional model."""
    if is_subclassed(model):
        return [model]
    inside = (part for part in model.layers if is_graph(part))
    return [found for part in inside for found in subclassed_models(part)]


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
            "Layers that custom code calls cannot be replaced. Use "
            "keras_vaf.layers.VAFActivation in that code, or convert the Sequential "
            "and Functional models that the code uses."
        )
    raise ValueError(
        f"Expected a Sequential or Functional model. {hint} Received: {what}"
    )
