"""`clone`, `compile_like` and `copy_weights`, which copy models by Keras's means."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.graphs import Node
from keras_vaf.models.surgery.changes import equals
from keras_vaf.types import Tensor


def clone(
    model: keras.Model,
    make: Callable[[Node], Any],
    behind: Mapping[int, keras.layers.Layer],
) -> keras.Model:
    """Return a copy of a model, made by Keras's `clone_model`.

    Args:
        model: A Sequential or Functional model.
        make: Function from a layer or operation of the model to that of the copy.
        behind: Layers that are called on the output of a new layer, by its id.
    """

    def call(layer: Any, *args: Any, **kwargs: Any) -> Tensor:
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


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
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
            stacklevel=4,
        )


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
        source, target = (
            sorted(each, key=lambda weight: weight.name) for each in (source, target)
        )
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
