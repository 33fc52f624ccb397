"""`Configuration`, which copies a layer with other activations in its configuration."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.constructions import Constructions
from keras_vaf.models.surgery.converted import ACTIVATION_NAME, held_by, walk
from keras_vaf.models.surgery.fixed_activations import (
    ACTIVATION_LAYERS,
    is_linear,
    label,
)


class Slot(NamedTuple):
    """An activation in the configuration of a layer.

    Args:
        activation: A function or a layer.
        path: Path of the layer that applies it.
        recurrent: Whether it belongs to a recurrent layer.
        holder: The dictionary or list that contains the activation.
        key: Key or index of the activation in `holder`.
    """

    activation: Any
    path: str
    recurrent: bool
    holder: Any
    key: Any


class Configuration:
    """The configuration of a layer, and the activations that it names.

    Args:
        layer: A custom layer, a wrapper, or a recurrent layer.
        path: Path of the layer.
        constructions: Describes layers whose own configuration is not enough.

    Attributes:
        slots: The activations. The list is empty if the layer cannot be described.
    """

    def __init__(
        self, layer: keras.layers.Layer, path: str, constructions: Constructions
    ) -> None:
        self._layer, self._constructions = layer, constructions
        self.slots: list[Slot] = []
        try:
            self._config = constructions.configuration(layer)
        except Exception:  # third-party layers may raise any error
            return
        found = find_layers(layer, TrainableActivation).values()
        trained = {each.name: each for each in found}
        for slot in _slots(self._config, path):
            # A configuration does not contain weights.
            name = getattr(slot.activation, "name", "")
            self.slots.append(
                slot._replace(activation=trained.get(name, slot.activation))
            )
        self._place(trained)

    def holds(self, activation: Any) -> bool:
        """Return whether the configuration contains an activation of the layer."""
        names = {label(slot.activation) for slot in self.slots}
        return label(activation) in names

    def make(
        self, activations: dict[int, Any], edit: Callable[[Any], Any] | None = None
    ) -> keras.layers.Layer:
        """Return a copy of the layer with other activations.

        Args:
            activations: New layers by the index of their slot.
            edit: Function that changes the configuration afterwards.

        Raises:
            Exception: Any error of a layer that does not accept the new activations.
        """
        for position, new in activations.items():
            holder, key = self.slots[position][-2:]
            if isinstance(new, keras.layers.Activation) and _is_name(key):
                new = new.activation
            holder[key] = keras.saving.serialize_keras_object(new)
        config = edit(self._config) if edit else self._config
        return self._constructions.make(self._layer, config)

    def _place(self, trained: dict[str, TrainableActivation]) -> None:
        """Find the argument of an activation that was inserted after construction.

        This is the only argument whose function is no longer applied by any inner
        layer.
        """
        parts = (self._layer, *(part for _, part, *_ in walk(self._layer)))
        held = [each for part in parts for each in held_by(part).values()]
        known = {slot.activation.name for slot in self.slots if _is_trained(slot)}
        new = {
            id(each): each
            for each in held
            if getattr(each, "name", None) in trained.keys() - known
        }
        still_there = {label(each) for each in held}
        free = [
            i
            for i, slot in enumerate(self.slots)
            if not _is_trained(slot) and label(slot.activation) not in still_there
        ]
        if len(new) == len(free) == 1:
            (activation,) = new.values()
            self.slots[free[0]] = self.slots[free[0]]._replace(activation=activation)


def _is_trained(slot: Slot) -> bool:
    return isinstance(slot.activation, TrainableActivation)


def _is_name(key: Any) -> bool:
    """Return whether a key of a configuration belongs to an activation."""
    return ACTIVATION_NAME.search(str(key)) is not None


def _slots(holder: Any, path: str, recurrent: bool = False) -> Iterator[Slot]:
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
                yield Slot(activation, inner, recurrent, holder, key)
        elif isinstance(config, dict):
            yield from _slots(config, inner, recurrent)
        elif isinstance(value, list | dict):
            yield from _slots(value, path, recurrent)


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
