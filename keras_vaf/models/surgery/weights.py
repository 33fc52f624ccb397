"""`copy_weights`, which copies the weights of a layer to a copy of the layer."""

from collections.abc import Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers


def equals(layer: keras.layers.Layer, outer: Any) -> list[keras.layers.Layer]:
    """Return the layers inside `outer` with the class and name of a layer."""
    found = find_layers(outer, type(layer)).values()
    return [each for each in found if each.name == layer.name]


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
        source, target = (sorted(each, key=_name) for each in (source, target))
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


def _name(weight: keras.Variable) -> str:
    return weight.name


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
