"""Trainable activations of a model exchanged for others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.cloning import Node, Swap, check_graph, rebuild
from keras_vaf.models.surgery.fixed_activations import has_built_in
from keras_vaf.models.surgery.layer_selection import layers_of
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)


class Exchanged(NamedTuple):
    """What takes the place of a trainable activation.

    Args:
        layer: A layer, or another callable, that is called in its place.
        after: What to call it.
        error: Largest difference of the two functions.
        nearest: The known function that is nearest to it, where it was sought.
    """

    layer: Callable[..., Any]
    after: str
    error: float
    nearest: str = ""


class NotExchangedError(Exception):
    """Why a trainable activation stays."""


Make = Callable[[TrainableActivation, str, str], Exchanged]
"""Takes a trainable activation, its path, and the name for the new layer."""


def exchange(
    model: keras.Model,
    make: Make,
    edit: Callable[[dict[str, Any]], Any] | None = None,
    compiled: bool = True,
) -> keras.Model:
    """Return a copy of a model in which trainable activations are exchanged.

    One that is given to another layer, as in `Dense(activation=...)`, becomes a layer
    behind it. The result has a `report`.

    Args:
        model: A Sequential or Functional model with weights.
        make: Makes what takes the place; raises `NotExchangedError` where none does.
        edit: Changes the configurations of the other layers.
        compiled: Whether to compile the copy as the model is.

    Raises:
        ValueError: If the model has no trainable activation, or these have no weights
            yet.
    """
    check_graph(model)
    names = {layer.name for layer in layers_of(model)}
    changes: list[ReplacedActivation] = []
    kept: list[KeptActivation] = []

    def swap(layer: Node, path: str) -> Swap | None:
        given = has_built_in(layer)
        old = layer.activation if given else layer
        if not isinstance(old, TrainableActivation):
            kept.extend(_inside(layer, path))
            return None
        name = _free(f"{layer.name}_activation", names) if given else layer.name
        try:
            new = make(old, path, name)
        except NotExchangedError as reason:
            kept.append(KeptActivation(path, type(old).__name__, str(reason)))
            return None
        parameters = _parameters(new.layer) - _parameters(old)
        changes.append(
            ReplacedActivation(
                path, label(old), new.after, new.error, parameters, new.nearest
            )
        )
        return Swap(linear=True, then=new.layer) if given else Swap(new.layer)

    result = rebuild(model, swap, edit=edit, compiled=compiled)
    if not changes and not kept:
        raise ValueError(
            "Expected a model with a trainable activation of keras_vaf.layers. "
            f"Received: the model {model.name!r} with none"
        )
    result.report = ConversionReport(tuple(changes), tuple(kept))
    return result


def label(layer: TrainableActivation) -> str:
    """Name of a trainable activation for people, with its k if it has one."""
    name = type(layer).__name__
    return f"{name}(k={layer.k})" if hasattr(layer, "k") else name


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name = f"{name}_vaf"
    names.add(name)
    return name


def _parameters(layer: Any) -> int:
    return sum(int(np.prod(w.shape)) for w in getattr(layer, "weights", ()))


def _inside(layer: Node, path: str) -> list[KeptActivation]:
    """Return the trainable activations in a layer that are no part of the graph."""
    if not isinstance(layer, keras.layers.Layer):
        return []
    reason = f"it is inside a {type(layer).__name__}, whose code calls it"
    return [
        KeptActivation(f"{path}/{name}", label(part), reason)
        for name, part in find_layers(layer, TrainableActivation).items()
    ]
