"""`replace_activations` puts other activations into a copy of a model."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.models.surgery.cloning import Node, Swap, check_graph, rebuild
from keras_vaf.models.surgery.fixed_activations import (
    has_built_in,
    is_activation,
    label,
)
from keras_vaf.models.surgery.layer_selection import layers_of
from keras_vaf.models.surgery.report import (
    ConversionReport,
    KeptActivation,
    ReplacedActivation,
)


class Place(NamedTuple):
    """An activation of a model.

    Args:
        activation: A layer, an operation or a function.
        layer: The layer that it is, or that applies it.
        path: Path of this layer.
        name: Name for the new layer.
    """

    activation: Any
    layer: Node
    path: str
    name: str


class NewActivation(NamedTuple):
    """The replacement of an activation.

    Args:
        layer: A layer, or another callable, that is called in its place.
        before: Name of the old activation for people.
        after: Name of the new activation for people.
        error: Largest difference between the two functions, if it was measured.
        nearest: The known function nearest to the old activation, if it was sought.
    """

    layer: Callable[..., Any]
    before: str
    after: str
    error: float | None = None
    nearest: str = ""


class KeptError(Exception):
    """The reason why an activation is kept."""


def replace_activations(
    model: keras.Model,
    decide: Callable[[Place], NewActivation | None],
    inplace: bool = False,
    edit: Callable[[dict[str, Any]], Any] | None = None,
    compiled: bool = True,
) -> keras.Model:
    """Return a copy of a model with other activations.

    The new activation of an activation layer takes its place. The new activation of a
    layer such as `Dense(activation=...)` becomes a layer behind it. The result has a
    `report`.

    Args:
        model: A Sequential or Functional model.
        decide: Called once for each activation, also for those that the code of another
            layer calls, which are kept. It returns the replacement; returns `None` if
            the activation is not of interest; or raises `KeptError` with the reason why
            it is kept.
        inplace: Whether to use the layers of the model instead of copies.
        edit: Changes the configurations of the other layers.
        compiled: Whether to compile the copy as the model is.

    Raises:
        ValueError: If the model is subclassed, or one of its layers cannot be made
            again.
    """
    check_graph(model)
    names = {layer.name for _, layer in layers_of(model)}
    new: list[tuple[str, NewActivation, int]] = []
    kept: list[KeptActivation] = []

    def choose(place: Place, reason: str = "") -> NewActivation | None:
        try:
            chosen = decide(place)
            if chosen and reason:
                raise KeptError(reason)
        except KeptError as error:
            kept.append(KeptActivation(place.path, label(place.activation), str(error)))
            return None
        if chosen:
            new.append((place.path, chosen, _parameters(place.activation)))
        return chosen

    def swap(layer: Node, path: str) -> Swap | None:
        if has_built_in(layer):
            name = _free(f"{layer.name}_activation", names)
            behind = choose(Place(layer.activation, layer, path, name))
            return behind and Swap(linear=True, then=behind.layer)
        if is_activation(layer):
            there = choose(Place(layer, layer, path, layer.name))
            return there and Swap(there.layer)
        for place in _inside(layer, path):
            choose(place, f"it is inside a {type(layer).__name__}, whose code calls it")
        return None

    result = rebuild(model, swap, inplace, edit, compiled)
    replaced = (
        ReplacedActivation(
            path, by.before, by.after, by.error, _parameters(by.layer) - had, by.nearest
        )
        for path, by, had in new
    )
    result.report = ConversionReport(tuple(replaced), tuple(kept))
    return result


def replace_trainable(
    model: keras.Model,
    make: Callable[[TrainableActivation, str], NewActivation],
    **options: Any,
) -> keras.Model:
    """Return a copy of a model with others in place of its trainable activations.

    Args:
        model: A Sequential or Functional model.
        make: Takes a trainable activation and the name for the new layer. It returns
            the replacement or raises `KeptError`.
        **options: As for `replace_activations`.

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


def _inside(layer: Node, path: str) -> Iterator[Place]:
    """Yield the activations that the code of a layer calls."""
    own = getattr(layer, "activation", None)
    if own not in (None, keras.activations.linear):
        yield Place(own, layer, path, layer.name)
    cells = isinstance(layer, keras.layers.RNN)  # their activation is that of the layer
    for part in () if cells else getattr(layer, "_layers", ()):
        inner = f"{path}/{part.name}"
        if is_activation(part):
            yield Place(part, part, inner, part.name)
        elif part is not own:
            yield from _inside(part, inner)


def _free(name: str, names: set[str]) -> str:
    while name in names:
        name = f"{name}_vaf"
    names.add(name)
    return name


def _parameters(activation: Any) -> int:
    weights = getattr(activation, "weights", ())
    return sum(int(np.prod(weight.shape)) for weight in weights)
