"""`find_layers`, which finds the layers of given classes anywhere in a model."""

from typing import TypeVar

import keras

from keras_vaf.layers.keras_internals import inner_layers

Kind = TypeVar("Kind", bound=keras.layers.Layer)


def find_layers(
    outer: keras.layers.Layer,
    kinds: type[Kind] | tuple[type[Kind], ...],
    prefix: str = "",
) -> dict[str, Kind]:
    """Return the layers of given classes in a layer or model, each layer once.

    The search includes nested models, wrappers, recurrent cells and the `activation` of
    other layers, but does not enter a layer of these classes. The keys, in the
    order of the model, are paths, which join the names of layers by slashes.
    """
    found: dict[str, Kind] = {}
    for layer in getattr(outer, "layers", None) or inner_layers(outer):
        path = f"{prefix}{layer.name}"
        if isinstance(layer, kinds):
            inside = {path: layer}
        else:
            inside = find_layers(layer, kinds, f"{path}/")
        known = set(map(id, found.values()))
        found |= {
            path: layer for path, layer in inside.items() if id(layer) not in known
        }
    return found
