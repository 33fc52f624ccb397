"""`put_into`, which replaces activations of subclassed models, and their new class."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import unlocked, untrack
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.graphs import is_graph
from keras_vaf.models.analysis.held import Path, Slot, Slots, parts_of, walk
from keras_vaf.models.surgery.changes import Change


def put_into(copy: keras.Model, model: keras.Model, changes: Sequence[Change]) -> None:
    """Put the new activations into a subclassed model, or into a copy of it."""
    pairs = zip(walk(copy), walk(model), strict=True)
    frozen = [new for (_, new, *_), (_, old, *_) in pairs if not old.trainable]
    activations = {}
    for change in changes:
        if change.new is not None:
            change.outer = activations[change.place.where] = change.new.layer
    if activations:
        _hold(copy, activations)
    for layer in frozen:
        layer.trainable = False


def _hold(model: keras.Model, activations: Mapping[Slots, keras.layers.Layer]) -> None:
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


def copied(model: keras.Model) -> keras.Model | None:
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
        _hold(model, activations)
        return model


@functools.lru_cache(maxsize=64)
def _converted(kind: type) -> type:
    """Return the class of converted models for a class of models."""
    made = type(f"Converted{kind.__name__}", (ConvertedModel, kind), {})
    # Every class registered under this name can load all converted models.
    register = keras.saving.register_keras_serializable("keras_vaf", "ConvertedModel")
    return register(made)


def _at(model: Any, path: Path) -> Any:
    return functools.reduce(lambda layer, i: parts_of(layer)[i], path, model)


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
