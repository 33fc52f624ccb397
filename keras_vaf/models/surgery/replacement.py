"""`replace_activations`, which copies a model with other activations."""

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.surgery.cloning import Swap, rebuild
from keras_vaf.models.surgery.configurations import Configuration
from keras_vaf.models.surgery.constructions import Constructions
from keras_vaf.models.surgery.converted import held_activations, hold
from keras_vaf.models.surgery.fixed_activations import (
    applied,
    has_built_in,
    is_activation,
    is_linear,
    label,
)
from keras_vaf.models.surgery.graphs import Node, check_graph, subclassed_models
from keras_vaf.models.surgery.layer_selection import layers_of
from keras_vaf.models.surgery.places import KeptError, NewActivation, Place
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)
from keras_vaf.models.surgery.samples import sample_inputs
from keras_vaf.models.surgery.weights import equals


def replace_activations(
    model: keras.Model,
    decide: Callable[[Place], NewActivation | None],
    inplace: bool = False,
    edit: Callable[[dict[str, Any]], Any] | None = None,
    compiled: bool = True,
    subclassed: bool = True,
) -> keras.Model:
    """Return a copy of a model with other activations.

    A new activation replaces an activation layer directly. For a layer such as
    `Dense(activation=...)`, the new activation becomes a separate layer after it. Other
    layers are copied with the new activation in their configuration. A subclassed model
    becomes a `ConvertedModel`. The result has a `report`.

    Args:
        model: A Sequential or Functional model.
        decide: Function called once for each activation, including those that cannot be
            replaced. It returns the replacement, or `None` to ignore the activation, or
            raises `KeptError` with the reason why the activation is kept.
        inplace: Whether to use the layers of the model instead of copies.
        edit: Function that changes the configurations of the other layers.
        compiled: Whether to compile the copy with the compile arguments of the model.
        subclassed: Whether subclassed models keep their class. Otherwise they become
            plain Functional models.

    Raises:
        ValueError: If the model is not Sequential or Functional, or if one of its
            layers cannot be copied.
    """
    check_graph(model)
    constructions = Constructions([] if subclassed else subclassed_models(model))
    surgery = _Surgery(model, decide, edit, constructions)
    change = surgery.change if subclassed else None
    result = rebuild(
        model, surgery.swap, change, inplace, edit, compiled, constructions
    )
    found = find_layers(result, TrainableActivation).values()
    if getattr(result, "inputs", None) and not all(each.weights for each in found):
        result(sample_inputs(result), training=False)  # builds inner activations
    result.report = surgery.report()
    return result


def replace_trainable(
    model: keras.Model,
    make: Callable[[TrainableActivation, str], NewActivation],
    **options: Any,
) -> keras.Model:
    """Return a copy of a model in which the trainable activations are replaced.

    Args:
        model: A Sequential or Functional model.
        make: Function of a trainable activation and the name of the new layer. It
            returns the replacement or raises `KeptError`.
        **options: Other arguments of `replace_activations`.

    Raises:
        ValueError: If the model has no trainable activation, or cannot be copied.
    """
    check_graph(model)
    trainable_activations(model)

    def decide(place: Place) -> NewActivation | None:
        if not isinstance(place.activation, TrainableActivation):
            return None
        return make(place.activation, place.name)

    return replace_activations(model, decide, **options)


class _Surgery:
    """Replaces the activations of a model and records the changes."""

    def __init__(
        self, model: keras.Model, decide: Any, edit: Any, constructions: Constructions
    ) -> None:
        self._decide, self._edit = decide, edit
        self._constructions = constructions
        self._names = {layer.name for _, layer in layers_of(model)}
        self._kept: list[KeptActivation] = []
        # Path, replacement, layer that contains it, and parameters of the old
        # activation.
        self._new: list[tuple[str, NewActivation, Any, int]] = []

    def swap(self, layer: Node, path: str) -> Swap | None:
        """Return the replacement of a layer in a graph."""
        if has_built_in(layer):
            place = self._place(layer.activation, layer, path)
            behind = self._choose(place)
            return behind and Swap(linear=True, then=self._add(place, behind))
        if is_activation(layer):
            place = Place(applied(layer), layer, path, layer.name)
            there = self._choose(place)
            return there and Swap(self._add(place, there))
        if isinstance(layer, keras.layers.Layer):
            return self._swap_inside(layer, path)
        return None

    def change(self, model: keras.Model, copy: keras.Model, prefix: str) -> None:
        """Replace the activations of a copy of a subclassed model."""
        activations = {}
        for activation, layer, path, slots, recurrent in held_activations(model):
            place = self._place(activation, layer, f"{prefix}{path}", recurrent)
            new = self._choose(place)
            if new:
                activations[slots] = self._add(place, new)
        for operation in model.operations:
            if is_activation(operation) and not isinstance(
                operation, keras.layers.Layer
            ):
                place = Place(operation, operation, f"{prefix}{operation.name}", "")
                self._refuse(place, f"the code of {type(model).__name__} calls it")
        if activations:
            hold(copy, activations)

    def report(self) -> ConversionReport:
        """Return a report of all changes."""
        replaced = []
        for path, new, owner, had in self._new:
            layers = [new.layer] if owner is None else equals(new.layer, owner)
            added = sum(map(_parameters, layers)) - had
            replaced.append(
                ReplacedActivation(
                    path, new.before, new.after, new.error, added, new.nearest
                )
            )
        return ConversionReport(tuple(replaced), tuple(self._kept))

    def _place(
        self, activation: Any, layer: Node, path: str, recurrent: bool = False
    ) -> Place:
        """Return the place of an activation, with a new name for its replacement."""
        name = f"{path.rpartition('/')[2]}_activation"
        while name in self._names:
            name = f"{name}_vaf"
        self._names.add(name)
        return Place(activation, layer, path, name, recurrent)

    def _choose(self, place: Place) -> NewActivation | None:
        try:
            return self._decide(place)
        except KeptError as reason:
            self._keep(place, str(reason))
            return None

    def _refuse(self, place: Place, reason: str) -> None:
        """Record that an activation is kept, unless `decide` ignores it."""
        if self._choose(place):
            self._keep(place, reason)

    def _keep(self, place: Place, reason: str) -> None:
        activation = label(place.activation)
        self._kept.append(KeptActivation(place.path, activation, reason))

    def _add(self, place: Place, new: NewActivation, owner: Any = None) -> Any:
        self._new.append((place.path, new, owner, _parameters(place.activation)))
        return new.layer

    def _swap_inside(self, layer: keras.layers.Layer, path: str) -> Swap | None:
        """Return a copy of a layer with other activations in its configuration."""
        configuration = Configuration(layer, path, self._constructions)
        chosen = {}
        for i, slot in enumerate(configuration.slots):
            place = self._place(slot.activation, layer, slot.path, slot.recurrent)
            new = self._choose(place)
            if new:
                chosen[i] = place, new
        for part, inner in _inside(layer, path):
            if not configuration.holds(part):
                owner = type(layer).__name__
                reason = f"no argument of {owner} with 'act' in its name holds it"
                self._refuse(Place(part, layer, inner, ""), reason)
        if not chosen:
            return None
        layers = {i: _as_layer(new.layer) for i, (_, new) in chosen.items()}
        try:
            made = configuration.make(layers, self._edit)
        except Exception as error:  # third-party layers may raise any error
            for place, _ in chosen.values():
                self._keep(place, f"a {type(layer).__name__} takes no other: {error}")
            return None
        for place, new in chosen.values():
            self._add(place, new, made)
        pairs = [(chosen[i][0].activation, new) for i, new in layers.items()]
        return Swap(made, inside=pairs)


def _as_layer(new: Any) -> keras.layers.Layer:
    return new if isinstance(new, keras.layers.Layer) else new.as_layer()


def _inside(layer: keras.layers.Layer, path: str) -> Iterator[tuple[Any, str]]:
    """Yield the activations of the inner layers of a layer, with their paths."""
    for part in () if isinstance(layer, keras.layers.RNN) else layer._layers:
        inner = f"{path}/{part.name}"
        own = getattr(part, "activation", None)
        if is_activation(part):
            yield applied(part), inner
        elif callable(own) and not is_linear(own):
            yield own, inner
        else:
            yield from _inside(part, inner)


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)
