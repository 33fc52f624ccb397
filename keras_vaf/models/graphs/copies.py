"""`graph_copy`, `layer_like` and other functions that copy parts of a model."""

import warnings
from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.changes import Draft


def graph_copy(
    model: keras.Model,
    make: Callable[[Any], Any],
    calls: Callable[[Any], list[Any]],
) -> keras.Model:
    """Return a copy of a Sequential or Functional model, which is not compiled.

    `make` returns the new layer for a layer, and `calls` the layers that are called in
    its place, in order. If there are none, its input is passed on.
    """

    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = args[0] if args else None
        for i, each in enumerate(calls(layer)):
            outputs = each(outputs) if i else each(*args, **kwargs)
        return outputs

    compiled, model.compiled = model.compiled, False  # the copy is not complete
    try:
        if not isinstance(model, keras.Sequential):
            functions = {"clone_function": make, "call_function": call}
            return keras.models.clone_model(model, **functions)
        # `clone_model` takes no `call_function` for a Sequential model.
        layers: list[Any] = [
            keras.Input(batch_shape=each.shape, dtype=each.dtype, name=each.name)
            for each in getattr(model, "inputs", None) or ()  # none before it is built
        ]
        for layer in model.layers:
            layers += calls(make(layer))
        return keras.Sequential(layers, name=model.name)
    finally:
        model.compiled = compiled


def layer_like(layer: Any, **other: Any) -> Any:
    """Return a new layer with the configuration of another, but for some entries."""
    try:
        return type(layer).from_config({**layer.get_config(), **other})
    except Exception as error:  # third-party layers may raise any error
        reason = str(error).strip().partition("\n")[0]
        raise _not_copied(layer, reason) from error


def copy_weights(old: Any, new: Any, inside: list[Draft]) -> None:
    """Copy the weights of a layer into one that differs only in activations.

    The new activations inside the other layer become the new layers of the drafts.
    """
    left_out: set[int] = set()
    for draft in inside:
        found = find_layers(new, type(draft.new)).values()
        made = [each for each in found if each.name == draft.new.name]
        for each in (draft.old, *made):
            left_out |= {id(weight) for weight in getattr(each, "weights", ())}
        for each in made if draft.new.weights else ():
            each.set_weights(draft.new.get_weights())
        draft.new = made or draft.new
    source, target = (
        [each for each in getattr(layer, "weights", ()) if id(each) not in left_out]
        for layer in (old, new)
    )
    if [w.shape for w in source] != [w.shape for w in target]:
        # Keras may have created them in turn.
        source, target = (sorted(w, key=lambda w: w.name) for w in (source, target))
    if [w.shape for w in source] != [w.shape for w in target]:
        raise _not_copied(old, f"{len(source)} weights, in a copy {len(target)}")
    for weight, value in zip(target, source, strict=True):
        weight.assign(keras.ops.convert_to_numpy(value))


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
    if not getattr(model, "compiled", False):  # a module of PyTorch never is
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


def _not_copied(layer: Any, reason: str) -> ValueError:
    return ValueError(
        f"The layer {layer.name!r} of class {type(layer).__name__} cannot be copied "
        "from its configuration. It needs a complete `get_config`, and its classes and "
        "functions must be registered with `keras.saving.register_keras_serializable`. "
        f"With `inplace=True`, the layer itself is used. Received: {reason}"
    )
