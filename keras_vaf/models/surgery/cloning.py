"""`clone`, which copies a Sequential or Functional model with other layers."""

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras

from keras_vaf.models.surgery.graphs import Node
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
        with _not_compiled(model):
            return keras.models.clone_model(
                model, clone_function=make, call_function=call
            )
    layers: list[Any] = []  # here, `clone_model` takes no `call_function`
    if getattr(model, "inputs", None):  # none before it is built
        (old,) = model.inputs
        layers += [keras.Input(batch_shape=old.shape, dtype=old.dtype, name=old.name)]
    for layer in model.layers:
        layers += [make(layer)]
        layers += [behind[id(layers[-1])]] if id(layers[-1]) in behind else []
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


@contextlib.contextmanager
def _not_compiled(model: keras.Model) -> Iterator[None]:
    """Prevent `clone_model` from compiling a model that is not complete."""
    compiled, model.compiled = model.compiled, False
    try:
        yield
    finally:
        model.compiled = compiled
