"""`Configuration`, which makes a layer again, with other activations."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.constructions import Constructions
from keras_vaf.models.surgery.converted import ACTIVATION_NAME, held_by, walk
from keras_vaf.models.surgery.fixed_activations import (
    ACTIVATION_LAYERS,
    has_built_in,
    is_linear,
    label,
)
from keras_vaf.models.surgery.graphs import Node
from keras_vaf.models.surgery.places import Place


class Configuration:
    """The configuration of a layer, and the activations that it names.

    Args:
        layer: A layer or another operation.
        path: Path of the layer.
        constructions: Describes layers whose own configuration is not enough.

    Attributes:
        places: The activations, each with the part of the configuration that contains
            it and the key there.
    """

    def __init__(self, layer: Node, path: str, constructions: Constructions) -> None:
        self._layer, self._constructions = layer, constructions
        self._config: dict[str, Any] = {}
        self._error: Exception | None = None
        try:
            self._config = constructions.configuration(layer)
        except Exception as error:  # third-party layers may raise any error
            self._error = error
        if has_built_in(layer):
            where = self._config, "activation"
            self.places = [Place(layer.activation, layer, path, where=where)]
            return
        self.places = list(_places(self._config, layer, path))
        if isinstance(layer, keras.layers.Layer):
            self._find_trained()

    def holds(self, activation: Any) -> bool:
        """Return whether the configuration contains an activation of the layer."""
        return label(activation) in [label(place.activation) for place in self.places]

    def make(
        self,
        activations: Sequence[tuple[Place, keras.layers.Layer | None]],
        edit: Callable[[Any], Any] | None,
    ) -> Any:
        """Return a copy of the layer with other activations.

        Args:
            activations: Pairs of a place and a new layer, or `None` for no activation.
            edit: Function that changes the configuration afterwards.

        Raises:
            Exception: Any error of a layer that cannot be described, or that does not
                accept the new activations.
        """
        if self._error is not None:
            raise self._error
        for place, new in activations:
            holder, key = place.where
            if isinstance(new, keras.layers.Activation) and _is_name(key):
                new = new.activation
            holder[key] = keras.saving.serialize_keras_object(new)
        config = edit(self._config) if edit else self._config
        return self._constructions.make(self._layer, config)

    def _find_trained(self) -> None:
        """Use the layer's own trainable activations, because they have weights.

        One that was inserted after construction belongs to the only argument whose
        function is no longer applied by any inner layer.
        """
        found = find_layers(self._layer, TrainableActivation).values()
        trained = {each.name: each for each in found}
        known = set()
        for i, place in enumerate(self.places):
            name = getattr(place.activation, "name", "")
            if name in trained:
                known.add(name)
                self.places[i] = place._replace(activation=trained[name])
        parts = (self._layer, *(part for _, part, *_ in walk(self._layer)))
        held = [each for part in parts for each in held_by(part).values()]
        still_there = {label(each) for each in held}
        new = [
            trained[name] for name in trained.keys() - known if trained[name] in held
        ]
        free = [
            i
            for i, place in enumerate(self.places)
            if not isinstance(place.activation, TrainableActivation)
            and label(place.activation) not in still_there
        ]
        if len(new) == len(free) == 1:
            self.places[free[0]] = self.places[free[0]]._replace(activation=new[0])


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
