"""`replace_activations`, which copies a model with other activations."""

from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.fixed_activations import (
    applied,
    has_built_in,
    is_activation,
    label,
)
from keras_vaf.models.analysis.graphs import (
    Node,
    check_model,
    is_graph,
    is_subclassed,
    layers_of,
    sample_inputs,
)
from keras_vaf.models.analysis.held import Place, held_activations
from keras_vaf.models.surgery.changes import Changes, NewActivation
from keras_vaf.models.surgery.converted import converted
from keras_vaf.models.surgery.copies import (
    Configuration,
    Remake,
    clone,
    compile_like,
    copy_weights,
)
from keras_vaf.models.surgery.report import keep_report


def replace_activations(
    model: keras.Model,
    decide: Callable[[Place], NewActivation | None],
    inplace: bool = False,
    remake: Remake | None = None,
) -> keras.Model:
    """Return a copy of a model with other activations.

    Keras's `clone_model` copies the graph. Each layer is made again from its own
    configuration, in which the new activations replace the old ones, so that the copy
    equals what Keras loads from its file. An activation layer or operation is replaced
    directly. The activation of a layer such as `Dense` becomes a separate layer after
    it. A subclassed model becomes a `ConvertedModel`.

    Args:
        model: A Sequential or Functional model, or a subclassed model with weights.
        decide: Function called once for each activation, including those that cannot be
            replaced. It returns the replacement, or `None` to ignore the activation, or
            raises `KeptError` with the reason why the activation is kept.
        inplace: Whether to use the layers of the model instead of copies.
        remake: Makes the layers again. If it is given, subclassed models become plain
            Functional models, and the result is not compiled.

    Raises:
        ValueError: If the model or one of its layers cannot be copied.
    """
    check_model(model)
    surgery = _Surgery(model, decide, inplace, remake)
    result = surgery.model(model)
    surgery.finish()
    if remake is None and model.compiled:  # once the frozen state is set
        compile_like(result, model)
    found = find_layers(result, TrainableActivation).values()
    if result.built and not all(each.weights for each in found):
        result(sample_inputs(result), training=False)  # builds inner activations
    keep_report(result, surgery.changes.report())
    return result


def replace_trainable(
    model: keras.Model,
    make: Callable[[TrainableActivation, str], NewActivation],
    remake: Remake | None = None,
) -> keras.Model:
    """Return a copy of a model in which the trainable activations are replaced.

    Args:
        model: As for `replace_activations`.
        make: Function of a trainable activation and the name of the new layer. It
            returns the replacement or raises `KeptError`.
        remake: As for `replace_activations`.

    Raises:
        ValueError: If the model has no trainable activation, or cannot be copied.
    """
    check_model(model)
    trainable_activations(model)

    def decide(place: Place) -> NewActivation | None:
        if not isinstance(place.activation, TrainableActivation):
            return None
        return make(place.activation, place.name)

    return replace_activations(model, decide, remake=remake)


class _Surgery:
    """Copies models and layers with other activations."""

    def __init__(
        self, model: keras.Model, decide: Any, inplace: bool, remake: Remake | None
    ) -> None:
        self._inplace, self._plain = inplace, remake is not None
        self._remake = remake or Remake()
        self.changes = Changes(decide, {layer.name for _, layer in layers_of(model)})
        self._made: dict[int, Any] = {}  # new layers by the id of the old one
        self._behind: dict[int, keras.layers.Layer] = {}  # by the id of a new layer
        # Old layer, new layer, and the pairs of old and new activations inside.
        self._copies: list[tuple[Node, Node, list[tuple[Any, Any]]]] = []
        self._pairs: list[tuple[Any, Any]] = []

    def model(self, model: keras.Model, prefix: str = "") -> keras.Model:
        """Return a copy of a model, whose path is `prefix` without the last slash."""
        copy = None
        if is_subclassed(model) and not self._plain:
            copy = converted(model, self.changes, prefix, self._inplace)
        if copy is None and not is_graph(model):
            raise ValueError(
                f"The class {type(model).__name__} makes no copy of the model "
                f"{model.name!r}. It needs a complete `get_config` and `from_config`. "
                f"With `inplace=True`, the model itself is used. Received: {model!r}"
            )
        if copy is None:
            shared = _sharing_layers(model) if self._plain else set()

            def make(layer: Node) -> Any:
                new = self._layer(layer, f"{prefix}{layer.name}")
                return new.call if id(layer) in shared else new

            copy = clone(model, make, self._behind)
        self._pairs.append((model, copy))
        return copy

    def finish(self) -> None:
        """Copy the weights and the frozen state, outer models first."""
        for old, new, inside in self._copies:
            if getattr(old, "built", False) and not new.built:
                new.build_from_config(old.get_build_config())
            copy_weights(old, new, inside)
            if hasattr(new, "finalize_state"):  # statistics of preprocessing
                new.finalize_state()
        for old, new in reversed(self._pairs):
            layers = isinstance(old, keras.layers.Layer)
            if layers and new.trainable != old.trainable:
                new.trainable = old.trainable

    def _layer(self, layer: Node, path: str) -> Any:
        """Return the new layer of a layer, the same one at each use."""
        if id(layer) not in self._made:
            if is_graph(layer):
                new = self.model(layer, f"{path}/")
            else:
                change = self._activation if is_activation(layer) else self._around
                new = change(layer, path) or self._copied(layer)
                self._pairs.append((layer, new))
            self._made[id(layer)] = new
        return self._made[id(layer)]

    def _activation(self, layer: Node, path: str) -> keras.layers.Layer | None:
        """Return the replacement of an activation in the graph, if it is replaced."""
        place = Place(applied(layer), layer, path, name=layer.name)
        new = self.changes.choose(place)
        if new is None:
            return None
        self.changes.put(place, new, new.layer)
        return new.layer

    def _around(self, layer: Node, path: str) -> keras.layers.Layer | None:
        """Return a copy of a layer with other activations, if any are replaced."""
        if not isinstance(layer, keras.layers.Layer):
            return None
        configuration = Configuration(layer, path, self._remake)
        choices = [(each, self.changes.choose(each)) for each in configuration.places]
        chosen = [(place, new) for place, new in choices if new is not None]
        if not has_built_in(layer):
            self._refuse_inside(layer, path, configuration)
        try:
            return self._exchanged(layer, configuration, chosen) if chosen else None
        except Exception as error:  # third-party layers may raise any error
            for place, _ in chosen:
                reason = f"a {type(layer).__name__} takes no other: {error}"
                self.changes.keep(place, reason)
            return None

    def _exchanged(
        self,
        layer: Any,
        configuration: Configuration,
        chosen: list[tuple[Place, NewActivation]],
    ) -> keras.layers.Layer:
        """Return a copy of a layer with other activations inside or behind it."""
        made, built_in = layer, has_built_in(layer)
        in_layer = isinstance(getattr(layer, "activation", None), keras.layers.Layer)
        if built_in and self._inplace and not in_layer:
            layer.activation = keras.activations.linear
        else:
            inner = [(place, None if built_in else new.layer) for place, new in chosen]
            made = configuration.make(inner)
            inside = [(place.activation, new.layer) for place, new in chosen]
            self._copies.append((layer, made, inside))
        for place, new in chosen:
            if built_in:
                self._behind[id(made)] = new.layer
                self._pairs.append((layer, new.layer))
            self.changes.put(place, new, new.layer if built_in else made)
        return made

    def _copied(self, layer: Node) -> Any:
        """Return an equal layer, or the layer itself if there is nothing to copy."""
        if self._inplace:
            return layer
        try:
            new = self._remake.make(layer, self._remake.describe(layer))
        except Exception as error:  # third-party layers may raise any error
            if not getattr(layer, "variables", ()):
                return layer
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(
                f"The layer {layer.name!r} of class {type(layer).__name__} cannot be "
                "copied from its configuration. It needs a complete `get_config`, and "
                "the classes and functions in its configuration must be registered "
                "with `keras.saving.register_keras_serializable`. With `inplace=True`, "
                "the layer itself is used. "
                f"Received: {reason}"
            ) from error
        self._copies.append((layer, new, []))
        return new

    def _refuse_inside(
        self, layer: keras.layers.Layer, path: str, configuration: Configuration
    ) -> None:
        """Record the activations inside a layer that its configuration lacks."""
        named = [label(place.activation) for place in configuration.places]
        for place in held_activations(layer):
            if not place.recurrent and label(place.activation) not in named:
                place = place._replace(layer=layer, path=f"{path}/{place.path}")
                owner = type(layer).__name__
                reason = f"no argument of {owner} with 'act' in its name holds it"
                self.changes.refuse(place, reason)


def _sharing_layers(model: keras.Model) -> set[int]:
    """Return the ids of nested models whose layers the model also calls directly.

    The file of a plain Functional model does not record that these layers are shared.
    """
    own = {id(layer) for layer in model.layers if layer.weights}
    return {
        id(part)
        for part in model.layers
        if is_graph(part) and any(id(each) in own for each in part.layers)
    }
