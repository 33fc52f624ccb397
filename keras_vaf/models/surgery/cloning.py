"""`rebuild`, which copies a model and replaces some of its layers."""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.models.surgery.constructions import Constructions
from keras_vaf.models.surgery.converted import walk
from keras_vaf.models.surgery.graphs import Node, check_graph, is_graph, is_subclassed
from keras_vaf.models.surgery.weights import copy_weights
from keras_vaf.types import Tensor


class Swap(NamedTuple):
    """The replacement of a layer.

    Args:
        layer: Layer that replaces the old one; `None` for a copy of the old layer.
        linear: Whether the copy omits the built-in activation.
        then: Layer that is called on the output.
        inside: Pairs of old and new activations, if `layer` is a copy that differs only
            in inner activations. It contains layers equal to the new ones.
    """

    layer: Callable[..., Tensor] | None = None
    linear: bool = False
    then: Callable[[Tensor], Tensor] | None = None
    inside: Sequence[tuple[Any, keras.layers.Layer]] = ()


def rebuild(
    model: keras.Model,
    swap: Callable[[Node, str], Swap | None],
    change: Callable[[keras.Model, keras.Model, str], None] | None = None,
    inplace: bool = False,
    edit: Callable[[dict[str, Any]], Any] | None = None,
    compiled: bool = True,
    constructions: Constructions | None = None,
) -> keras.Model:
    """Return a copy of a model in which some layers are replaced.

    The copy keeps graph, names, weights, frozen layers and compile arguments. A layer
    that is used several times is replaced by a single layer that is used in the same
    places.

    Args:
        model: A Sequential or Functional model, which may contain other models.
        swap: Function called once with each layer and its path. It returns the
            replacement, or `None` for a copy.
        change: Function that changes the copy of a subclassed model. It is called with
            the model, the copy, and the path prefix of the inner layers. With `None`,
            subclassed models become plain Functional models.
        inplace: Whether to use the layers of the model instead of copies.
        edit: Function from the configuration of a layer to that of its copy.
        compiled: Whether to compile the copy with the compile arguments of the model.
        constructions: Describes layers whose own configuration is not enough.

    Raises:
        ValueError: If the model is subclassed, or if one of its layers cannot be
            copied.
    """
    check_graph(model)
    builder = _Builder(swap, change, inplace, edit, constructions or Constructions([]))
    result = builder.model(model)
    builder.finish()
    if compiled and model.compiled:
        _compile(result, model)
    return result


def _compile(result: keras.Model, model: keras.Model) -> None:
    """Compile the result like the model, once everything that must be frozen is."""
    try:
        if type(model).compile is keras.Model.compile:
            result.compile_from_config(model.get_compile_config())
        else:  # in this case Keras does not compile from a configuration
            config = keras.saving.deserialize_keras_object(model.get_compile_config())
            keras.Model.compile(result, **config)
    except ValueError as error:
        result.compiled = False
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


def _with_shared_layers(model: keras.Model) -> list[keras.Model]:
    """Return the nested models whose layers the model also calls directly.

    The file of a plain Functional model does not record that these layers are shared.
    """
    own = {id(layer) for layer in model.layers if layer.weights}
    return [
        part
        for part in model.layers
        if is_graph(part) and any(id(each) in own for each in part.layers)
    ]


class _Builder:
    def __init__(
        self,
        swap: Any,
        change: Any,
        inplace: bool,
        edit: Any,
        constructions: Constructions,
    ) -> None:
        self._swap, self._change = swap, change
        self._inplace, self._edit = inplace, edit
        self._constructions = constructions
        self._made: dict[int, Any] = {}
        self._inlined: set[int] = set()
        self._then: dict[int, Callable[[Tensor], Tensor]] = {}
        # Old layer, new layer, and the inner activations that differ.
        self._copies: list[tuple[Node, Node, Sequence[tuple[Any, Any]]]] = []
        self._pairs: list[tuple[Node, Any]] = []

    def model(self, model: keras.Model, prefix: str = "") -> keras.Model:
        def make(layer: Node) -> Any:
            return self._layer(layer, prefix)

        result = None
        if self._change is None:
            self._inlined |= set(map(id, _with_shared_layers(model)))
        elif is_subclassed(model):
            result = self._subclassed(model, prefix)
        if result is None and isinstance(model, keras.Sequential):
            result = self._sequential(model, make)
        elif result is None:
            with _not_compiled(model):
                result = keras.models.clone_model(
                    model, clone_function=make, call_function=self._call
                )
        self._pairs.append((model, result))
        return result

    def _subclassed(self, model: keras.Model, prefix: str) -> keras.Model | None:
        """Return a copy of a subclassed model, if its class supports copying."""
        copy = model
        if not self._inplace:
            try:
                copy = type(model).from_config(model.get_config())
                copy.set_weights(model.get_weights())
            except Exception:  # third-party classes may raise any error
                return None
        if type(copy) is not type(model):
            return None
        pairs = zip(walk(copy), walk(model), strict=True)
        frozen = [new for (_, new, *_), (_, old, *_) in pairs if not old.trainable]
        for name in ("preprocessor", "sampler"):  # not in every configuration
            if getattr(model, name, None) is not None:
                setattr(copy, name, getattr(model, name))
        self._change(model, copy, prefix)
        for layer in frozen:
            layer.trainable = False
        return copy

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
            made = self.model(layer, f"{path}/")
            return made.call if id(layer) in self._inlined else made
        swap = self._swap(layer, path) or Swap()
        new: Any = swap.layer
        if new is None:
            new = self._copy(layer, swap.linear)
        elif swap.inside:
            self._copies.append((layer, new, swap.inside))
        if swap.then is not None:
            self._then[id(new)] = swap.then
            self._pairs.append((layer, swap.then))
        self._pairs.append((layer, new))
        return new

    def _copy(self, layer: Node, linear: bool) -> Node:
        own = getattr(layer, "activation", None)
        # If the activation is itself a layer, the copy must be given a linear one.
        given = linear and isinstance(own, keras.layers.Layer)
        if self._inplace and not given:
            if linear:
                layer.activation = keras.activations.linear
            return layer
        try:
            config = self._constructions.configuration(layer)
            if linear:
                config["activation"] = "linear"
            config = self._edit(config) if self._edit else config
            new = self._constructions.make(layer, config)
        except Exception as error:
            if not linear and not getattr(layer, "weights", ()):
                return layer  # there is nothing to copy
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(
                f"The layer {layer.name!r} of class {type(layer).__name__} cannot be "
                "copied from its configuration. It needs a complete `get_config`, and "
                "the classes and functions in its configuration must be registered "
                "with `keras.saving.register_keras_serializable`. With `inplace=True`, "
                "the layer itself is used. "
                f"Received: {reason}"
            ) from error
        self._copies.append((layer, new, [(own, None)] if given else []))
        return new

    def finish(self) -> None:
        """Copy the weights and the frozen state, outer models first."""
        for old, new, inside in self._copies:
            if getattr(old, "built", False) and not new.built:
                new.build_from_config(old.get_build_config())
            copy_weights(old, new, inside)
            if hasattr(new, "finalize_state"):  # statistics of preprocessing
                new.finalize_state()
        for old, new in reversed(self._pairs):
            layers = isinstance(old, keras.layers.Layer) and hasattr(new, "trainable")
            if layers and new.trainable != old.trainable:
                new.trainable = old.trainable
