"""`ConvertedModel`, which saves a subclassed model with its new activations."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import inner_layers, unlocked, untrack
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.fixed_activations import is_activation, is_linear
from keras_vaf.models.surgery.graphs import is_graph
from keras_vaf.models.surgery.places import Place

Path = tuple[int, ...]
"""Indices of the parents of a layer and of the layer, from the model inwards."""


class Slot(NamedTuple):
    """The attribute in which a layer stores an activation.

    Args:
        path: Path of the layer.
        attribute: Name of the attribute.
    """

    path: Path
    attribute: str = "activation"


Slots = tuple[Slot, ...]
"""All slots of an activation."""
ACTIVATION_NAME = re.compile(r"(?<!recurrent_)(?<![a-z])act(ivation)?(?![a-z])")
"""Names of attributes and arguments that hold activations, but not those of gates."""


def held_activations(layer: keras.layers.Layer) -> Iterator[Place]:
    """Yield the activations that are attributes of inner layers, with their slots.

    Args:
        layer: A built model, or another layer with inner layers.
    """
    seen: set[tuple[int, str]] = set()
    for path, part, name, recurrent in walk(layer):
        held = held_by(part)
        for attribute, activation in held.items():
            if (id(part), attribute) in seen:
                continue
            # A layer passes its activation on to its inner layers.
            family = ((path, part), *(inner[:2] for inner in walk(part, path)))
            slots = []
            for inner, member in family:
                names = [n for n, own in held_by(member).items() if own is activation]
                seen |= {(id(member), each) for each in names}
                slots += [Slot(inner, each) for each in names]
            yield Place(activation, part, name, recurrent, tuple(slots))
        if not held and is_activation(part) and (id(part), "") not in seen:
            seen.add((id(part), ""))
            yield Place(part, part, name, recurrent, (Slot(path),))


def hold(model: keras.Model, activations: Mapping[Slots, keras.layers.Layer]) -> None:
    """Replace activations of layers of a built model.

    Args:
        model: The model, which becomes a `ConvertedModel`.
        activations: The new activations by the slots of the old ones.
    """
    if not isinstance(model, ConvertedModel):
        kind: Any = type(model)
        object.__setattr__(model, "__class__", _converted(kind))
        model._own_activations = tuple(find_layers(model, TrainableActivation))
        model._replaced_slots = ()
    for slots, activation in activations.items():
        for path, attribute in slots:
            _set_activation(_at(model, path), attribute, activation)
    new = tuple(slots for slots in activations if slots not in model._replaced_slots)
    model._replaced_slots = (*model._replaced_slots, *new)


def copy_of(model: keras.Model) -> keras.Model | None:
    """Return a copy of a subclassed model, or `None` if its class makes no copies."""
    try:
        copy = type(model).from_config(model.get_config())
        if not copy.built:
            copy.build_from_config(model.get_build_config())
            copy.built = True  # as Keras does when it loads a model
        copy.set_weights(model.get_weights())
    except Exception:  # third-party classes may raise any error
        return None
    if type(copy) is not type(model):
        return None
    for name in ("preprocessor", "sampler"):  # not in every configuration
        if getattr(model, name, None) is not None:
            setattr(copy, name, getattr(model, name))
    return copy


@keras.saving.register_keras_serializable(package="keras_vaf")
class ConvertedModel:
    """A subclassed model in which some activations were replaced.

    Its class is created on demand as a subclass of the model's class. Its configuration
    contains that of the original model, and the new activations with their slots.
    """

    _own_activations: tuple[str, ...]
    _replaced_slots: tuple[Slots, ...]

    def get_config(self) -> dict[str, Any]:
        """Return the configuration of the original model and the new activations.

        Raises:
            ValueError: If the model has an activation that neither of the two contains.
        """
        new = [
            getattr(_at(self, slots[0].path), slots[0].attribute)
            for slots in self._replaced_slots
        ]
        held = set(map(id, new))
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
        if not is_graph(self):  # its layers are built before the activations are set
            shapes = self.get_build_config()  # type: ignore[attr-defined]
            described["build_config"] = keras.tree.map_shape_structure(list, shapes)
        pairs = zip(self._replaced_slots, new, strict=True)
        return {
            "original": described,
            "replaced": [
                {
                    "slots": [[list(path), attribute] for path, attribute in slots],
                    "activation": keras.saving.serialize_keras_object(activation),
                }
                for slots, activation in pairs
            ],
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Self:
        """Create the original model and replace its activations."""
        deserialize = functools.partial(
            keras.saving.deserialize_keras_object, custom_objects=custom_objects
        )
        model = deserialize(config["original"])
        activations = {
            tuple(
                Slot(tuple(path), attribute) for path, attribute in each["slots"]
            ): deserialize(each["activation"])
            for each in config["replaced"]
        }
        hold(model, activations)
        return model


@functools.lru_cache(maxsize=64)
def _converted(kind: type) -> type:
    """Return the class of converted models for a class of models."""
    made = type(f"Converted{kind.__name__}", (ConvertedModel, kind), {})
    # Every class registered under this name can load all converted models.
    register = keras.saving.register_keras_serializable("keras_vaf", "ConvertedModel")
    return register(made)


def walk(
    layer: Any, path: Path = (), name: str = "", recurrent: bool = False
) -> Iterator[tuple[Path, keras.layers.Layer, str, bool]]:
    """Yield the inner layers of a layer: path, layer, names, whether recurrent."""
    recurrent = recurrent or isinstance(layer, keras.layers.RNN)
    for i, part in enumerate(_parts(layer)):
        inner = f"{name}/{part.name}".lstrip("/")
        yield (*path, i), part, inner, recurrent
        yield from walk(part, (*path, i), inner, recurrent)


def _parts(layer: Any) -> Sequence[keras.layers.Layer]:
    models = isinstance(layer, keras.Model)
    parts = layer.layers if models else inner_layers(layer)
    own = [id(activation) for activation in held_by(layer, linear=True).values()]
    return [part for part in parts if id(part) not in own]


def _at(model: Any, path: Path) -> Any:
    return functools.reduce(lambda layer, i: _parts(layer)[i], path, model)


def held_by(layer: Any, linear: bool = False) -> dict[str, Any]:
    """Return the activations that are attributes of a layer, by attribute name.

    Args:
        layer: The layer.
        linear: Whether to include linear activations.
    """
    if isinstance(layer, keras.Model):
        return {}
    held = {}
    # PyTorch stores layers in `_modules`.
    for name in (*vars(layer), *vars(layer).get("_modules", ())):
        value = getattr(layer, name, None) if ACTIVATION_NAME.search(name) else None
        # A layer under another name is an inner layer, unless `hold` put it there.
        part = isinstance(value, keras.layers.Layer) and name != "activation"
        inside = part and not isinstance(value, TrainableActivation)
        if callable(value) and not inside and (linear or not is_linear(value)):
            held[name] = value
    return held


def _set_activation(layer: Any, name: str, activation: keras.layers.Layer) -> None:
    """Replace an activation of a built layer, which Keras has locked."""
    with unlocked(layer):
        if not hasattr(layer, name):  # a layer such as ReLU
            for weight in list(layer.weights):
                untrack(layer, weight)
            layer.__class__ = keras.layers.Activation
        elif isinstance(getattr(layer, name), keras.layers.Layer):
            untrack(layer, getattr(layer, name))
        setattr(layer, name, activation)
