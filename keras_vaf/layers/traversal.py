"""`find_layers`, which finds the layers of given classes anywhere in a model."""

from collections.abc import Iterator
from typing import TypeVar

import keras

from keras_vaf.layers.keras_internals import inner_layers, numbered_names

Kind = TypeVar("Kind", bound=keras.layers.Layer)


def find_layers(
    outer: keras.layers.Layer, kinds: type[Kind] | tuple[type[Kind], ...]
) -> dict[str, Kind]:
    """Return the layers of given classes in a layer or model, each layer once.

    The search includes nested models, wrappers, recurrent cells and the `activation` of
    other layers, but does not enter a layer of these classes. The keys, in the
    order of the model, are paths, which join the names of layers by slashes. Equal
    paths get numbers: `act`, `act_1`.
    """
    places = list(_places(outer, kinds, ""))
    paths = {path for path, _ in places}
    found: dict[str, Kind] = {}
    known: set[int] = set()
    for path, layer in places:
        if id(layer) not in known:
            known.add(id(layer))
            if path in found:
                path = next(numbered_names(path, paths | found.keys()))
            found[path] = layer
    return found


def _places(
    outer: keras.layers.Layer, kinds: type[Kind] | tuple[type[Kind], ...], prefix: str
) -> Iterator[tuple[str, Kind]]:
    for layer in getattr(outer, "layers", None) or inner_layers(outer):
        path = f"{prefix}{layer.name}"
        if isinstance(layer, kinds):
            yield path, layer
        else:
            yield from _places(layer, kinds, f"{path}/")
