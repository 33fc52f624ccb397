"""`Place`, an activation in a model, and `held_activations`, which finds some."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import inner_layers
from keras_vaf.models.analysis.fixed_activations import is_activation, is_linear
from keras_vaf.models.analysis.graphs import Node


class Place(NamedTuple):
    """An activation of a model.

    Args:
        activation: A layer, an operation or a function.
        layer: The activation itself if it is a layer, or the layer that applies it.
        path: Path of this layer.
        recurrent: Whether it belongs to a recurrent layer.
        where: The slots of the activation in a built model, or the part of a
            configuration that contains it and the key there.
        name: Name for the new layer.
    """

    activation: Any
    layer: Node
    path: str
    recurrent: bool = False
    where: Any = None
    name: str = ""


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


def held_activations(layer: Any, outer: str = "") -> Iterator[Place]:
    """Yield the activations that are attributes of inner layers, with their slots.

    Args:
        layer: A built model, or another layer with inner layers.
        outer: Path of the layer.
    """
    seen: set[tuple[int, str]] = set()
    for path, part, name, recurrent in walk(layer, name=outer):
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


def walk(
    layer: Any, path: Path = (), name: str = "", recurrent: bool = False
) -> Iterator[tuple[Path, keras.layers.Layer, str, bool]]:
    """Yield the inner layers of a layer: path, layer, names, whether recurrent."""
    recurrent = recurrent or isinstance(layer, keras.layers.RNN)
    for i, part in enumerate(parts_of(layer)):
        inner = f"{name}/{part.name}".lstrip("/")
        yield (*path, i), part, inner, recurrent
        yield from walk(part, (*path, i), inner, recurrent)


def parts_of(layer: Any) -> Sequence[keras.layers.Layer]:
    """Return the inner layers of a layer, without its activations."""
    models = isinstance(layer, keras.Model)
    parts = layer.layers if models else inner_layers(layer)
    own = [id(activation) for activation in held_by(layer, linear=True).values()]
    return [part for part in parts if id(part) not in own]


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
