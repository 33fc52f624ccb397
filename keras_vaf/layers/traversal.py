"""Layers of a kind, wherever they are nested in a model."""

from typing import TypeVar

import keras

Kind = TypeVar("Kind", bound=keras.layers.Layer)


def find_layers(
    outer: keras.layers.Layer, kinds: type[Kind] | tuple[type[Kind], ...]
) -> dict[str, Kind]:
    """Return the layers of some kinds in a layer or model, each of them once.

    They are found in nested models, in wrappers and recurrent cells, and where they are
    the `activation` of another layer.

    Args:
        outer: The model, or any layer that holds others.
        kinds: Classes of the wanted layers; what is within one of these is not looked
            at.

    Returns:
        The layers by their path, names joined by slashes, in the model's order.
    """
    return _find(outer, kinds, "")


def _find(
    outer: keras.layers.Layer, kinds: type[Kind] | tuple[type[Kind], ...], prefix: str
) -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for layer in getattr(outer, "layers", None) or outer._layers:
        path = f"{prefix}{layer.name}"
        if isinstance(layer, kinds):
            inside = {path: layer}
        else:
            inside = _find(layer, kinds, f"{path}/")
        known = set(map(id, found.values()))
        found |= {
            path: layer for path, layer in inside.items() if id(layer) not in known
        }
    return found
