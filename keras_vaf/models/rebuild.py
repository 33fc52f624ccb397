"""`Rebuilding`, which copies a model with other activations.

Keras's `clone_model` copies the graph. The activation of a layer such as `Dense`
becomes a layer after it. Other layers are made again from their configurations, in
which new activations replace the old ones, as Keras loads them from a file.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import fixed
from keras_vaf.models.changes import Change, KeptError
from keras_vaf.models.graphs.checks import is_graph
from keras_vaf.models.graphs.running import run

Replace = Callable[[Change], None]


class Rebuilding:
    """A copy of a model with other activations, and in `changes` what became of each.

    `replace` adds the new activation to a change, raises `KeptError`, or ignores the
    change. Until `finish`, no layer is changed, even if layers are used `inplace`.
    """

    def __init__(self, model: Any, replace: Replace, inplace: bool = False) -> None:
        self.changes: list[Change] = []
        self._replace, self._inplace = replace, inplace
        self._names = {layer.name for layer in all_layers(model)}
        self._made: dict[int, Any] = {}  # new layers by the id of the old one
        self._behind: dict[int, Any] = {}  # layers after a new layer, by its id
        # Old and new layer, and the changes inside, or `None` without weights to copy.
        self._pairs: list[tuple[Any, Any, list[Change] | None]] = []
        self._made_linear: list[Any] = []  # layers that are changed in place
        self._result = self._begin(model)

    def _begin(self, model: keras.Model) -> keras.Model:
        return self._graph(model, "")

    def finish(self, data: Any = None) -> keras.Model:
        """Return the model, run on data if an activation needs it to get weights."""
        self._carry_over()
        found = find_layers(self._result, TrainableActivation).values()
        if self._result.built and not all(each.weights for each in found):
            run(self._result, data)
        return self._result

    def _carry_over(self) -> None:
        """Copy the weights and the frozen state, outer models first."""
        for layer in self._made_linear:
            layer.activation = keras.activations.linear
        for old, new, inside in reversed(self._pairs):
            if inside is not None:
                if getattr(old, "built", False) and not new.built:
                    new.build_from_config(old.get_build_config())
                _copy_weights(old, new, inside)
                if hasattr(new, "finalize_state"):  # statistics of preprocessing
                    new.finalize_state()
            layer = isinstance(old, keras.layers.Layer)
            if layer and new.trainable != old.trainable:
                new.trainable = old.trainable

    def _decide(
        self, activation: Any, holder: Any, path: str, name: str = "", **facts: Any
    ) -> Change | None:
        """Return the change to a new activation, or `None`."""
        change = Change(path, fixed.label(activation), **facts)
        change.old, change.holder = activation, holder
        change.name = name or self._name(path)
        try:
            self._replace(change)
        except KeptError as reason:
            change.kept = str(reason)
        if change.kept or change.new is not None:
            self.changes.append(change)
        if change.new is None:
            return None
        self._pairs.append((holder, change.new, None))
        return change

    def _name(self, path: str) -> str:
        """Return a new name for the activation of a layer."""
        name = f"{path.rpartition('/')[2]}_activation"
        while name in self._names:
            name = f"{name}_vaf"
        self._names.add(name)
        return name

    def _graph(self, model: keras.Model, prefix: str) -> keras.Model:
        """Return a copy of a Sequential or Functional model."""
        own = set(map(id, model.layers))

        def make(layer: Any) -> Any:
            if id(layer) not in self._made:
                self._made[id(layer)] = self._layer(layer, f"{prefix}{layer.name}")
            new = self._made[id(layer)]
            inner = layer.layers if is_graph(layer) else ()
            # A file does not record that a model and an inner model share a layer.
            shared = any(id(each) in own and each.weights for each in inner)
            return new.call if shared else new

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            outputs, after = layer(*args, **kwargs), self._behind.get(id(layer))
            return outputs if after is None else after(outputs)

        compiled, model.compiled = model.compiled, False  # the copy is not complete
        try:
            if isinstance(model, keras.Sequential):
                copy = self._sequential(model, make)
            else:
                functions = {"clone_function": make, "call_function": call}
                copy = keras.models.clone_model(model, **functions)
        finally:
            model.compiled = compiled
        self._pairs.append((model, copy, None))
        return copy

    def _sequential(
        self, model: keras.Sequential, make: Callable[[Any], Any]
    ) -> keras.Sequential:
        """Return a copy without `clone_model`, which takes no `call_function` here."""
        layers: list[Any] = [
            keras.Input(batch_shape=each.shape, dtype=each.dtype, name=each.name)
            for each in getattr(model, "inputs", None) or ()  # none before it is built
        ]
        for layer in map(make, model.layers):
            layers += [layer, *filter(None, [self._behind.get(id(layer))])]
        return keras.Sequential(layers, name=model.name)

    def _layer(self, layer: Any, path: str) -> Any:
        """Return the new layer for a layer or an operation."""
        if is_graph(layer):
            return self._graph(layer, f"{path}/")
        if fixed.is_activation(layer):
            own = getattr(layer, "activation", None)
            applied = own if isinstance(own, keras.layers.Layer) else layer
            change = self._decide(applied, layer, path, layer.name)
            return self._copied(layer) if change is None else change.new
        if fixed.has_built_in(layer):
            return self._without(layer, path)
        if isinstance(layer, keras.layers.Layer):
            return self._with_others(layer, path)
        return self._copied(layer)

    def _without(self, layer: Any, path: str) -> Any:
        """Return a layer such as Dense without its activation, which comes after it."""
        change = self._decide(layer.activation, layer, path)
        if change is None:
            return self._copied(layer)
        new = layer
        if self._inplace and not isinstance(layer.activation, keras.layers.Layer):
            self._made_linear.append(layer)
        else:
            try:
                config = {**layer.get_config(), "activation": None}
                new = type(layer).from_config(config)
            except Exception as error:  # an activation that is not registered
                reason = str(error).strip().partition("\n")[0]
                raise _not_copied(layer, reason) from error
            self._pairs.append((layer, new, [change]))
        self._behind[id(new)] = change.new
        return new

    def _with_others(self, layer: Any, path: str) -> Any:
        """Return a layer that has other activations in its configuration."""
        config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # third-party layers may raise any error
            config = {**layer.get_config()}
        before = len(self.changes)
        inside = [*self._inside(config, layer, path)]
        known = {fixed.label(each.old) for each in self.changes[before:]}
        kind = type(layer).__name__
        for inner, activation in fixed.activations_inside(layer, path):
            if fixed.label(activation) in known:
                continue
            change = self._decide(activation, layer, inner, layer.name, inside=True)
            if change is not None:
                change.before = fixed.label(activation)
                change.kept = f"no argument of {kind} with 'act' in its name holds it"
        if inside:
            try:
                new = type(layer).from_config(config)
                self._pairs.append((layer, new, inside))
                return new
            except Exception as error:  # third-party layers may raise any error
                for change in inside:
                    change.kept = f"a {kind} takes no other: {error}"
        return self._copied(layer)

    def _inside(
        self, holder: Any, layer: Any, path: str, recurrent: bool = False
    ) -> Iterator[Change]:
        """Replace the activations in a configuration, and yield their changes."""
        recurrent = recurrent or "recurrent_initializer" in holder
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in list(items):
            config = value.get("config") if isinstance(value, dict) else None
            inner = path
            if isinstance(config, dict):
                inner = f"{path}/{config.get('name', key)}"
            named = fixed.ACTIVATION_NAME.search(str(key)) is not None
            activation = fixed.activation_in(value, named, layer)
            if not fixed.is_linear(activation):
                facts: Any = {"inside": True, "recurrent": recurrent}
                change = self._decide(activation, layer, inner, **facts)
                if change is not None:
                    holder[key] = keras.saving.serialize_keras_object(change.new)
                    yield change
            elif isinstance(config, dict):
                yield from self._inside(config, layer, inner, recurrent)
            elif isinstance(value, list | dict):
                yield from self._inside(value, layer, path, recurrent)

    def _copied(self, layer: Any) -> Any:
        """Return an equal layer, or the layer itself if there is nothing to copy."""
        if self._inplace:
            return layer
        try:
            new = type(layer).from_config({**layer.get_config()})
        except Exception as error:  # third-party layers may raise any error
            if not getattr(layer, "variables", ()):
                return layer
            reason = str(error).strip().partition("\n")[0]
            raise _not_copied(layer, reason) from error
        self._pairs.append((layer, new, []))
        return new


def _copy_weights(old: Any, new: Any, inside: list[Change]) -> None:
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
