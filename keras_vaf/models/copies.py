"""Copies of models: `clone`, `copy_weights` and `compile_like`."""

import warnings
from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.changes import Change


def clone(
    model: keras.Model, make: Callable[[Any], Any], behind: dict[int, Any]
) -> keras.Model:
    """Return a copy of a graph, with layers `behind` new layers, by their ids."""

    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
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
            f"Received: a layer with {len(source)} weights, and a copy with "
            f"{len(target)}"
        )
    for weight, value in zip(target, source, strict=True):
        weight.assign(keras.ops.convert_to_numpy(value))


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
    if not model.compiled:
        return
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
            stacklevel=3,
        )
