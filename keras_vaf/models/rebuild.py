"""`Rebuilding`, which copies a model with other activations.

`graph_copy` copies the graph. The activation of a layer such as `Dense`
becomes a layer after it. Other layers are made again from their configurations, in
which new activations replace the old ones, as Keras loads them from a file.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import all_layers
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import fixed
from keras_vaf.models.changes import Draft, KeptError
from keras_vaf.models.graphs import checks, copies, running

Replace = Callable[[Draft], None]


class Rebuilding:
    """A copy of a model with other activations, and in `drafts` what became of each.

    `replace` adds the new activation to a draft, raises `KeptError`, or ignores the
    draft. Until `carry_over`, no layer is changed, even if layers are used `inplace`.
    """

    def __init__(self, model: Any, replace: Replace, inplace: bool = False) -> None:
        self.drafts: list[Draft] = []
        self.made: dict[int, Any] = {}  # new layers by the id of the old one
        self._replace, self._inplace = replace, inplace
        self._names = {layer.name for layer in all_layers(model)}
        self._behind: dict[int, Any] = {}  # layers after a new layer, by its id
        # Old and new layer, and the drafts inside, or `None` without weights to copy.
        self._pairs: list[tuple[Any, Any, list[Draft] | None]] = []
        self._made_linear: list[Any] = []  # layers that are changed in place
        if checks.is_graph(model):  # `Exchanging` changes any other
            self._result = self.graph(model)

    def finish(self, data: Any = None) -> keras.Model:
        """Return the model, run on data if an activation needs it to get weights."""
        self.carry_over()
        found = find_layers(self._result, TrainableActivation).values()
        if self._result.built and not all(each.weights for each in found):
            running.run(self._result, data)
        return self._result

    def carry_over(self) -> None:
        """Copy the weights and the frozen state, outer models first."""
        for layer in self._made_linear:
            layer.activation = keras.activations.linear
        for old, new, inside in reversed(self._pairs):
            if inside is not None:
                if getattr(old, "built", False) and not new.built:
                    new.build_from_config(old.get_build_config())
                copies.copy_weights(old, new, inside)
                if hasattr(new, "finalize_state"):  # statistics of preprocessing
                    new.finalize_state()
            layer = isinstance(old, keras.layers.Layer)
            if layer and new.trainable != old.trainable:
                new.trainable = old.trainable

    def decide(
        self, activation: Any, holder: Any, path: str, name: str = "", **facts: Any
    ) -> Draft | None:
        """Return the draft of a change to a new activation, or `None`."""
        facts |= {"old": activation, "holder": holder, "name": name or self._name(path)}
        change = Draft(path, fixed.label(activation), **facts)
        try:
            self._replace(change)
        except KeptError as reason:
            change.kept = str(reason)
        if change.kept or change.new is not None:
            self.drafts.append(change)
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

    def graph(self, model: keras.Model, prefix: str = "") -> keras.Model:
        """Return a copy of a Sequential or Functional model."""
        own = set(map(id, model.layers))

        def make(layer: Any) -> Any:
            if id(layer) not in self.made:
                self.made[id(layer)] = self._layer(layer, f"{prefix}{layer.name}")
            new = self.made[id(layer)]
            inner = layer.layers if checks.is_graph(layer) else ()
            # A file does not record that a model and an inner model share a layer.
            shared = any(id(each) in own and each.weights for each in inner)
            return new.call if shared else new

        def calls(new: Any) -> list[Any]:
            return [new, *filter(None, [self._behind.get(id(new))])]

        copy = copies.graph_copy(model, make, calls)
        self._pairs.append((model, copy, None))
        return copy

    def _layer(self, layer: Any, path: str) -> Any:
        """Return the new layer for a layer or an operation."""
        if checks.is_graph(layer):
            return self.graph(layer, f"{path}/")
        if fixed.is_activation(layer):
            own = getattr(layer, "activation", None)
            applied = own if isinstance(own, keras.layers.Layer) else layer
            change = self.decide(applied, layer, path, layer.name)
            return self._copied(layer) if change is None else change.new
        if fixed.has_built_in(layer):
            return self._without(layer, path)
        if isinstance(layer, keras.layers.Layer):
            return self._with_others(layer, path)
        return self._copied(layer)

    def _without(self, layer: Any, path: str) -> Any:
        """Return a layer such as Dense without its activation, which comes after it."""
        change = self.decide(layer.activation, layer, path)
        if change is None:
            return self._copied(layer)
        new = layer
        if self._inplace and not isinstance(layer.activation, keras.layers.Layer):
            self._made_linear.append(layer)
        else:
            new = copies.layer_like(layer, activation=None)
            self._pairs.append((layer, new, [change]))
        self._behind[id(new)] = change.new
        return new

    def _with_others(self, layer: Any, path: str) -> Any:
        """Return a layer that has other activations in its configuration."""
        config: dict[str, Any] = {}
        with contextlib.suppress(Exception):  # third-party layers may raise any error
            config = {**layer.get_config()}
        before = len(self.drafts)
        inside = [*self._inside(config, layer, path)]
        known = {fixed.label(each.old) for each in self.drafts[before:]}
        kind = type(layer).__name__
        for inner, activation in fixed.activations_inside(layer, path):
            if fixed.label(activation) in known:
                continue
            change = self.decide(activation, layer, inner, layer.name, inside=True)
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
    ) -> Iterator[Draft]:
        """Replace the activations in a configuration, and yield their changes."""
        recurrent = recurrent or "recurrent_initializer" in holder
        items = holder.items() if isinstance(holder, dict) else enumerate(holder)
        for key, value in list(items):
            config = value.get("config") if isinstance(value, dict) else None
            inner = path
            if isinstance(config, dict):
                inner = f"{path}/{config.get('name', key)}"
            activation = fixed.activation_in(value, str(key), layer, path)
            if not fixed.is_linear(activation):
                facts: Any = {"inside": True, "recurrent": recurrent}
                change = self.decide(activation, layer, inner, **facts)
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
            new = copies.layer_like(layer)
        except ValueError:
            if not getattr(layer, "variables", ()):
                return layer
            raise
        self._pairs.append((layer, new, []))
        return new
