"""`Configuration`, which makes a layer again, with other activations."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.fixed_activations import (
    ACTIVATION_LAYERS,
    has_built_in,
    is_linear,
    label,
)
from keras_vaf.models.analysis.graphs import Node
from keras_vaf.models.analysis.held import ACTIVATION_NAME, Place, held_by, walk


class Remake:
    """Makes layers and operations again from their own configurations."""

    def describe(self, layer: Node) -> dict[str, Any]:
        """Return a configuration from which a layer can be made."""
        return layer.get_config()

    def make(self, layer: Node, config: dict[str, Any]) -> Any:
        """Return a new layer of the same class, made from a configuration."""
        return type(layer).from_config(config)


class Configuration:
    """The configuration of a layer, and the activations that it names.

    Args:
        layer: A layer.
        path: Path of the layer.
        remake: Makes the layer again.

    Attributes:
        places: The activations, each with the part of the configuration that contains
            it and the key there.
    """

    def __init__(self, layer: keras.layers.Layer, path: str, remake: Remake) -> None:
        self._layer, self._remake = layer, remake
        self._config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # third-party layers may raise any error
            self._config = remake.describe(layer)
        if has_built_in(layer):
            where = self._config, "activation"
            self.places = [Place(layer.activation, layer, path, where=where)]
        else:
            found = _places(self._config, layer, path)
            self.places = _with_trained(list(found), layer)

    def make(self, new: Sequence[tuple[Place, keras.layers.Layer | None]]) -> Any:
        """Return a copy of the layer with other activations.

        Args:
            new: Pairs of a place and a new layer, or `None` for no activation.

        Raises:
            Exception: Any error of a layer that does not accept the new activations.
        """
        for place, activation in new:
            holder, key = place.where
            if isinstance(activation, keras.layers.Activation) and _is_name(key):
                activation = activation.activation
            holder[key] = keras.saving.serialize_keras_object(activation)
        return self._remake.make(self._layer, self._config)


def _with_trained(places: list[Place], layer: keras.layers.Layer) -> list[Place]:
    """Put the layer's own trainable activations, which have weights, into places.

    One that was inserted after construction belongs to the only argument whose function
    is no longer applied by any inner layer.
    """
    trained = {
        each.name: each for each in find_layers(layer, TrainableActivation).values()
    }
    for i, place in enumerate(places):
        own = trained.get(getattr(place.activation, "name", ""), place.activation)
        places[i] = place._replace(activation=own)
    parts = (layer, *(part for _, part, *_ in walk(layer)))
    held = [each for part in parts for each in held_by(part).values()]
    known = [place.activation for place in places]
    new = [each for each in trained.values() if each in held and each not in known]
    free = [
        i
        for i, activation in enumerate(known)
        if not isinstance(activation, TrainableActivation)
        and label(activation) not in map(label, held)
    ]
    if len(new) == len(free) == 1:
        places[free[0]] = places[free[0]]._replace(activation=new[0])
    return places


def _is_name(key: Any) -> bool:
    """Return whether a key of a configuration belongs to an activation."""
    return ACTIVATION_NAME.search(str(key)) is not None


def _places(
    holder: Any, layer: Node, path: str, recurrent: bool = False
) -> Iterator[Place]:
    recurrent = recurrent or "recurrent_initializer" in holder
    items = holder.items() if isinstance(holder, dict) else enumerate(holder)
    for key, value in list(items):
        config = value.get("config") if isinstance(value, dict) else None
        inner = path
        if isinstance(config, dict):
            inner = f"{path}/{config.get('name', key)}"
        if _is_name(key) or _is_activation_layer(value):
            activation = _activation(value)
            if not is_linear(activation):
                yield Place(activation, layer, inner, recurrent, (holder, key))
        elif isinstance(config, dict):
            yield from _places(config, layer, inner, recurrent)
        elif isinstance(value, list | dict):
            yield from _places(value, layer, path, recurrent)


def _is_activation_layer(value: Any) -> bool:
    """Return whether a part of a configuration describes an activation layer."""
    if not isinstance(value, dict):
        return False
    kind = keras.saving.get_registered_object(value.get("registered_name") or "")
    kind = kind or getattr(keras.layers, str(value.get("class_name")), None)
    return isinstance(kind, type) and issubclass(kind, ACTIVATION_LAYERS)


def _activation(value: Any) -> Any:
    """Return the activation that a part of a configuration describes, or `None`."""
    try:
        if isinstance(value, dict):
            return keras.saving.deserialize_keras_object(value)
        return keras.activations.get(value)
    except (TypeError, ValueError):
        return None
