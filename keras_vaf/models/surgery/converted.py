"""`ConvertedModel` saves a subclassed model together with its new activations."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.fixed_activations import is_activation, is_linear

Path = tuple[int, ...]
"""Positions of a layer and of its parents, from the model inwards."""
Paths = tuple[Path, ...]
"""Layers that apply the same activation."""


class Held(NamedTuple):
    """An activation that layers of a built model hold.

    Args:
        activation: A function or a layer.
        layer: The outermost layer that holds it.
        path: Path of this layer, made of names.
        paths: All layers that hold it.
        recurrent: Whether it belongs to a recurrent layer.
    """

    activation: Any
    layer: keras.layers.Layer
    path: str
    paths: Paths
    recurrent: bool


def held_activations(model: keras.Model) -> Iterator[Held]:
    """Yield the activations that the layers of a built model hold.

    Args:
        model: The model. Its layers may hold others.
    """
    seen: set[int] = set()
    for path, layer, name, recurrent in walk(model):
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        if _holds(layer):
            activation = layer.activation
            # A layer hands its activation on to the layers that it is made of.
            inner = [(p, q) for p, q, *_ in walk(layer, path) if _holds(q, activation)]
            seen |= {id(part) for _, part in inner}
            paths = (path, *(p for p, _ in inner))
            yield Held(activation, layer, name, paths, recurrent)
        elif is_activation(layer):
            yield Held(layer, layer, name, (path,), recurrent)


def hold(model: keras.Model, activations: Mapping[Paths, keras.layers.Layer]) -> None:
    """Give layers of a built model other activations.

    Args:
        model: The model, which becomes a `ConvertedModel`.
        activations: The new activations by the layers that hold them.
    """
    if not isinstance(model, ConvertedModel):
        kind: Any = type(model)
        object.__setattr__(model, "__class__", _converted(kind))
        model._own_activations = tuple(find_layers(model, TrainableActivation))
        model._replaced_paths = ()
    for paths, activation in activations.items():
        for path in paths:
            _set_activation(_at(model, path), activation)
    new = tuple(paths for paths in activations if paths not in model._replaced_paths)
    model._replaced_paths = (*model._replaced_paths, *new)


@keras.saving.register_keras_serializable(package="keras_vaf")
class ConvertedModel:
    """A subclassed model in which some activations were replaced.

    Its class is made when it is needed and is a subclass of the model's class. The
    configuration holds that of the original model, and the new activations with the
    layers that apply them.
    """

    _own_activations: tuple[str, ...]
    _replaced_paths: tuple[Paths, ...]

    def get_config(self) -> dict[str, Any]:
        """Return the configuration of the original model, and the new activations.

        Raises:
            ValueError: If the model has an activation that neither of them holds.
        """
        layers = [_at(self, paths[0]) for paths in self._replaced_paths]
        held = {id(layer.activation) for layer in layers}
        for path, layer in find_layers(self, TrainableActivation).items():
            if id(layer) not in held and path not in self._own_activations:
                raise ValueError(
                    "The model cannot be saved: an activation was put into one of its "
                    "layers by hand. Use keras_vaf.models.convert. "
                    f"Received: {path!r}"
                )
        original = type(self).__bases__[1]
        described = {
            "module": original.__module__,
            "class_name": original.__name__,
            "config": super().get_config(),  # type: ignore[misc]
            "registered_name": keras.saving.get_registered_name(original),
        }
        pairs = zip(self._replaced_paths, layers, strict=True)
        return {
            "original": described,
            "replaced": [
                {
                    "layers": [list(path) for path in paths],
                    "activation": keras.saving.serialize_keras_object(layer.activation),
                }
                for paths, layer in pairs
            ],
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """Make the original model and replace its activations."""
        deserialize = functools.partial(
            keras.saving.deserialize_keras_object, custom_objects=custom_objects
        )
        model = deserialize(config["original"])
        activations = {
            tuple(map(tuple, each["layers"])): deserialize(each["activation"])
            for each in config["replaced"]
        }
        hold(model, activations)
        return model


@functools.lru_cache(maxsize=64)
def _converted(kind: type) -> type:
    """Return the class of converted models of a class."""
    made = type(f"Converted{kind.__name__}", (ConvertedModel, kind), {})
    # Whichever class of this name is found, it reads all converted models.
    register = keras.saving.register_keras_serializable("keras_vaf", "ConvertedModel")
    return register(made)


def walk(
    layer: Any, path: Path = (), name: str = "", recurrent: bool = False
) -> Iterator[tuple[Path, keras.layers.Layer, str, bool]]:
    """Yield the layers inside another one: path, layer, names, whether recurrent."""
    recurrent = recurrent or isinstance(layer, keras.layers.RNN)
    for i, part in enumerate(_parts(layer)):
        inner = f"{name}/{part.name}".lstrip("/")
        yield (*path, i), part, inner, recurrent
        yield from walk(part, (*path, i), inner, recurrent)


def _parts(layer: Any) -> Sequence[keras.layers.Layer]:
    models = isinstance(layer, keras.Model)
    parts = layer.layers if models else layer._layers
    own = getattr(layer, "activation", None)
    return [part for part in parts if part is not own]


def _at(model: Any, path: Path) -> Any:
    return functools.reduce(lambda layer, i: _parts(layer)[i], path, model)


def _holds(layer: Any, activation: Any = None) -> bool:
    """Tell whether a layer holds an activation, or one in particular."""
    shown = isinstance(getattr(type(layer), "activation", None), property)
    if shown or isinstance(layer, keras.Model):
        return False
    held = getattr(layer, "activation", None)
    if not callable(held) or is_linear(held):
        return False
    return activation is None or held is activation


def _set_activation(layer: Any, activation: keras.layers.Layer) -> None:
    """Give a built layer another activation. Keras locks built layers."""
    locked = layer._tracker.locked
    layer._tracker.unlock()
    if not hasattr(layer, "activation"):  # a layer such as ReLU
        for weight in list(layer.weights):
            layer._untrack_variable(weight)
        layer.__class__ = keras.layers.Activation
    elif isinstance(layer.activation, keras.layers.Layer):
        layer._tracker.untrack(layer.activation)
    layer.activation = activation
    if locked:
        layer._tracker.lock()
