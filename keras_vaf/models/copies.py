"""`copy_weights` and `compile_like`, which complete the copy of a model."""

import warnings
from typing import Any

import keras

from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.changes import Change


def copy_weights(old: Any, new: Any, inside: list[Change]) -> None:
    """Copy the weights of a layer into one that differs only in activations.

    The new activations inside the other layer become the new layers of the changes.
    """
    left_out: set[int] = set()
    for change in inside:
        found = find_layers(new, type(change.new)).values()
        made = [each for each in found if each.name == change.new.name]
        for each in (change.old, *made):
            left_out |= {id(weight) for weight in getattr(each, "weights", ())}
        for each in made if change.new.weights else ():
            each.set_weights(change.new.get_weights())
        change.new = made or change.new
    source, target = (
        [each for each in getattr(layer, "weights", ()) if id(each) not in left_out]
        for layer in (old, new)
    )
    if [w.shape for w in source] != [w.shape for w in target]:
        # Keras may have created them in turn.
        source, target = (sorted(w, key=lambda w: w.name) for w in (source, target))
    if [w.shape for w in source] != [w.shape for w in target]:
        raise ValueError(
            f"The layer {old.name!r} of class {type(old).__name__} cannot be copied "
            "from its configuration, which makes other weights. "
            f"Received: {len(source)} weights, and a copy with {len(target)}"
        )
    for weight, value in zip(target, source, strict=True):
        weight.assign(keras.ops.convert_to_numpy(value))


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
    if not model.compiled:
        return
    try:
        # A class with its own `compile` is not compiled by `compile_from_config`.
        config = keras.saving.deserialize_keras_object(model.get_compile_config())
        keras.Model.compile(copy, **config)
        if copy.built:
            copy.optimizer.build(copy.trainable_variables)
    except ValueError as error:
        copy.compiled = False
        warnings.warn(
            "The new model is not compiled, because the optimizer was made for the "
            f"weights of the original model: compile it again. ({error})",
            stacklevel=3,
        )
