"""Copies of layers and models: `Configuration`, `clone` and `copy_weights`.

A layer is made again from its own configuration, with other activations. Keras's
`clone_model` joins the new layers.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from keras_vaf.models.surgery.changes import equals
from keras_vaf.types import Tensor


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
        built_in: Whether the only activation is the one with which a Keras layer ends.
        places: The activations, each with the part of the configuration that contains
            it and the key there.
    """

    def __init__(self, layer: keras.layers.Layer, path: str, remake: Remake) -> None:
        self._layer, self._remake = layer, remake
        self._config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # third-party layers may raise any error
            self._config = remake.describe(layer)
        self.built_in = has_built_in(layer)
        if self.built_in:
            where = self._config, "activation"
            self.places = [Place(layer.activation, layer, path, where=where)]
        else:
            found = _places(self._config, layer, path)
            self.places = _with_trained(list(found), layer)

    def make(self, new: Sequence[tuple[Place, keras.layers.Layer]]) -> Any:
        """Return a copy of the layer with other activations, or without a built-in one.

        Args:
            new: Pairs of a place and a new layer.

        Raises:
            Exception: Any error of a layer that does not accept the new activations.
        """
        for place, activation in new:
            holder, key = place.where
            named = ACTIVATION_NAME.search(str(key))
            if named and isinstance(activation, keras.layers.Activation):
                activation = activation.activation
            config = keras.saving.serialize_keras_object(activation)
            holder[key] = None if self.built_in else config
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
        if ACTIVATION_NAME.search(str(key)) or _is_activation_layer(value):
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


def clone(
    model: keras.Model,
    make: Callable[[Node], Any],
    behind: Mapping[int, keras.layers.Layer],
) -> keras.Model:
    """Return a copy of a model, made by Keras's `clone_model`.

    Args:
        model: A Sequential or Functional model.
        make: Function from a layer or operation of the model to that of the copy.
        behind: Layers that are called on the output of a new layer, by its id.
    """

    def call(layer: Any, *args: Any, **kwargs: Any) -> Tensor:
        outputs = layer(*args, **kwargs)
        return behind[id(layer)](outputs) if id(layer) in behind else outputs

    if not isinstance(model, keras.Sequential):
        compiled, model.compiled = model.compiled, False  # the copy is not complete
        try:
            return keras.models.clone_model(
                model, clone_function=make, call_function=call
            )
        finally:
            model.compiled = compiled
    layers: list[Any] = []  # here, `clone_model` takes no `call_function`
    if getattr(model, "inputs", None):  # none before it is built
        (old,) = model.inputs
        layers += [keras.Input(batch_shape=old.shape, dtype=old.dtype, name=old.name)]
    for layer in map(make, model.layers):
        layers += [layer, *filter(None, [behind.get(id(layer))])]
    return keras.Sequential(layers, name=model.name)


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
    config = model.get_compile_config()
    try:
        if type(model).compile is keras.Model.compile:
            copy.compile_from_config(config)
        else:  # in this case Keras does not compile from a configuration
            config = keras.saving.deserialize_keras_object(config)
            keras.Model.compile(copy, **config)
    except ValueError as error:
        copy.compiled = False
        warnings.warn(
            "The new model is not compiled, because the optimizer was made for the "
            f"weights of the original model: compile it again. ({error})",
            stacklevel=4,
        )


def copy_weights(old: Any, new: Any, inside: Sequence[tuple[Any, Any]]) -> None:
    """Copy the weights of a layer.

    Args:
        old: The layer.
        new: A copy of the layer that differs only in inner activations.
        inside: Pairs of an old activation and a layer that equals the new one.

    Raises:
        ValueError: If the weights of the two layers do not correspond.
    """
    left_out = set()
    for activation, given in inside:
        made = equals(given, new)
        for layer in (activation, *made):
            left_out |= {id(weight) for weight in getattr(layer, "weights", ())}
        for layer in made if given.weights else ():
            layer.set_weights(given.get_weights())
    source, target = (
        [each for each in getattr(layer, "weights", ()) if id(each) not in left_out]
        for layer in (old, new)
    )
    if _shapes(source) != _shapes(target):  # Keras may have created them in turn
        source, target = (
            sorted(each, key=lambda weight: weight.name) for each in (source, target)
        )
    if _shapes(source) != _shapes(target):
        raise ValueError(
            f"The layer {old.name!r} of class {type(old).__name__} cannot be copied "
            f"from its configuration: {_difference(old, new)}. "
            f"Received: a layer with {len(source)} weights, and a copy with "
            f"{len(target)}"
        )
    for weight, value in zip(target, source, strict=True):
        weight.assign(keras.ops.convert_to_numpy(value))


def _shapes(weights: Sequence[keras.Variable]) -> list[tuple[int, ...]]:
    return [weight.shape for weight in weights]


def _difference(old: Any, new: Any) -> str:
    """Return the reason why a layer and its copy have different weights."""
    activations = find_layers(old, TrainableActivation)
    lost = activations.keys() - find_layers(new, TrainableActivation).keys()
    if not lost:
        return "it has other weights"
    return (
        f"it has no argument for the activation {min(lost)!r}, which `convert` put "
        "into it. `model.export` writes the model as it is, for a process without "
        "keras_vaf"
    )
