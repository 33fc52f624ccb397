"""A model once more, with other layers in some places."""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import keras

from keras_vaf.types import Tensor

Node = Any
"""A layer, or another operation, of a model's graph."""


class Swap(NamedTuple):
    """What takes the place of a layer.

    Args:
        layer: Called in its place; `None` for a copy of it.
        linear: Whether the copy is without the activation that is built into it.
        then: Called on the output.
    """

    layer: Callable[..., Tensor] | None = None
    linear: bool = False
    then: Callable[[Tensor], Tensor] | None = None


def is_graph(layer: Node) -> bool:
    """Tell whether a layer is a Sequential or Functional model."""
    return isinstance(layer, keras.Sequential) or (
        isinstance(layer, keras.Model) and isinstance(layer, keras.Function)
    )


def check_graph(model: Any) -> None:
    """Raise a `ValueError` unless a model is a Sequential or Functional one."""
    if not is_graph(model):
        raise ValueError(
            "Expected a Sequential or Functional model. The layers of a subclassed "
            "model are called by code of its own, where no other layer can take their "
            "place: use keras_vaf.layers.VAFActivation in that code, or convert the "
            "Sequential and Functional models that it is made of. "
            f"Received: {model!r} of class {type(model).__name__}"
        )


def rebuild(
    model: keras.Model,
    swap: Callable[[Node, str], Swap | None],
    inplace: bool = False,
    edit: Callable[[dict[str, Any]], Any] | None = None,
    compiled: bool = True,
) -> keras.Model:
    """Return a copy of a model in which some layers are replaced.

    Graph, names, weights, what is frozen, and how the model was compiled stay. A layer
    in several places is replaced by one layer in the same places.

    Args:
        model: A Sequential or Functional model, nested ones inside included.
        swap: Called once for each layer and its path; returns what takes its place, or
            `None` for a copy.
        inplace: Whether to use the layers of the model instead of copies.
        edit: Takes the configuration of a layer and returns that of its copy.
        compiled: Whether to compile the copy as the model is.

    Raises:
        ValueError: If the model is subclassed, or one of its layers cannot be made
            again.
    """
    check_graph(model)
    builder = _Builder(swap, inplace, edit)
    result = builder.model(model)
    builder.finish()
    if compiled and model.compiled:
        _compile(result, model)
    return result


def _compile(result: keras.Model, model: keras.Model) -> None:
    """Compile as the model was, after all is frozen that shall be."""
    try:
        result.compile_from_config(model.get_compile_config())
    except ValueError as error:
        result.compiled = False
        warnings.warn(
            "The new model is not compiled, because the optimizer was made for the "
            f"weights of the given one: compile it again. ({error})",
            stacklevel=4,
        )


@contextlib.contextmanager
def _not_compiled(model: keras.Model) -> Iterator[None]:
    """Keep `clone_model` from compiling what is not complete."""
    compiled, model.compiled = model.compiled, False
    try:
        yield
    finally:
        model.compiled = compiled


class _Builder:
    def __init__(
        self,
        swap: Callable[[Node, str], Swap | None],
        inplace: bool,
        edit: Callable[[dict[str, Any]], Any] | None,
    ) -> None:
        self._swap = swap
        self._inplace = inplace
        self._edit = edit
        self._made: dict[int, Any] = {}
        self._then: dict[int, Callable[[Tensor], Tensor]] = {}
        self._copies: list[tuple[Node, Node]] = []
        self._pairs: list[tuple[Node, Any]] = []

    def model(self, model: keras.Model, prefix: str = "") -> keras.Model:
        def make(layer: Node) -> Any:
            return self._layer(layer, prefix)

        if isinstance(model, keras.Sequential):
            result = self._sequential(model, make)
        else:
            with _not_compiled(model):
                result = keras.models.clone_model(
                    model, clone_function=make, call_function=self._call
                )
        self._pairs.append((model, result))
        return result

    def _sequential(
        self, model: keras.Sequential, make: Callable[[Node], Any]
    ) -> keras.Model:
        layers: list[Any] = []
        for layer in model.layers:
            new = make(layer)
            layers += [new, self._then[id(new)]] if id(new) in self._then else [new]
        inputs = getattr(model, "inputs", None)  # none before it is built
        if not inputs:
            return keras.Sequential(layers, name=model.name)
        (old,) = inputs
        entry = keras.Input(batch_shape=old.shape, dtype=old.dtype, name=old.name)
        if all(isinstance(layer, keras.layers.Layer) for layer in layers):
            return keras.Sequential([entry, *layers], name=model.name)
        outputs = functools.reduce(lambda x, layer: layer(x), layers, entry)
        return keras.Model(entry, outputs, name=model.name)

    def _call(self, layer: Any, *args: Any, **kwargs: Any) -> Tensor:
        outputs = layer(*args, **kwargs)
        then = self._then.get(id(layer))
        return outputs if then is None else then(outputs)

    def _layer(self, layer: Node, prefix: str) -> Any:
        if id(layer) not in self._made:
            self._made[id(layer)] = self._make(layer, f"{prefix}{layer.name}")
        return self._made[id(layer)]

    def _make(self, layer: Node, path: str) -> Any:
        if is_graph(layer):
            return self.model(layer, f"{path}/")
        swap = self._swap(layer, path) or Swap()
        new: Any = swap.layer
        if new is None:
            new = self._copy(layer, swap.linear)
        if swap.then is not None:
            self._then[id(new)] = swap.then
            self._pairs.append((layer, swap.then))
        self._pairs.append((layer, new))
        return new

    def _copy(self, layer: Node, linear: bool) -> Node:
        # An activation that is a layer itself cannot be taken from a layer again.
        given = isinstance(getattr(layer, "activation", None), keras.layers.Layer)
        if self._inplace and not (linear and given):
            if linear:
                layer.activation = keras.activations.linear
            return layer
        try:
            config = layer.get_config()
            if linear:
                config["activation"] = "linear"
            new = type(layer).from_config(self._edit(config) if self._edit else config)
        except Exception as error:
            raise ValueError(
                f"The layer {layer.name!r} of class {type(layer).__name__} cannot be "
                "made again from its configuration. It needs a complete `get_config`, "
                "and what that names must be registered with "
                f"`keras.saving.register_keras_serializable`. Received: {error}"
            ) from error
        self._copies.append((layer, new))
        return new

    def finish(self) -> None:
        """Copy weights, and freeze what was frozen, outer models first."""
        for old, new in self._copies:
            if getattr(old, "weights", None):
                # Those of an activation that the copy is without are the last.
                new.set_weights(old.get_weights()[: len(new.weights)])
                if hasattr(new, "finalize_state"):  # statistics of preprocessing
                    new.finalize_state()
        for old, new in reversed(self._pairs):
            layers = isinstance(old, keras.layers.Layer) and hasattr(new, "trainable")
            if layers and new.trainable != old.trainable:
                new.trainable = old.trainable
