"""`replace_activations`, which copies a model with other activations."""

from collections.abc import Callable, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models.analysis.graphs import Node, check_model, layers_of, sample_inputs
from keras_vaf.models.analysis.held import Place
from keras_vaf.models.surgery.changes import Change, NewActivation, report_of
from keras_vaf.models.surgery.converted import put_into
from keras_vaf.models.surgery.copies import (
    Configuration,
    Remake,
    clone,
    compile_like,
    copy_weights,
)
from keras_vaf.models.surgery.plan import Part, Plan
from keras_vaf.models.surgery.report import keep_report


def replace_activations(plan: Plan) -> keras.Model:
    """Return a copy of a model with other activations.

    Keras's `clone_model` copies the graph. Each layer is made again from its own
    configuration, in which the new activations replace the old ones, so that the copy
    equals what Keras loads from its file. An activation layer or operation is replaced
    directly. The activation of a layer such as `Dense` becomes a separate layer after
    it. A subclassed model becomes a `ConvertedModel`.

    Args:
        plan: What becomes of each activation. A layer may refuse a replacement: its
            changes then say so.

    Raises:
        ValueError: If a layer cannot be copied.
    """
    model, surgery = plan.whole.layer, _Surgery(plan)
    result = surgery.make(plan.whole)
    surgery.finish()
    if model.compiled and not plan.plain:  # once the frozen state is set
        compile_like(result, model)
    found = find_layers(result, TrainableActivation).values()
    if result.built and not all(each.weights for each in found):
        result(sample_inputs(result), training=False)  # builds inner activations
    return result


def replace_trainable(
    model: keras.Model,
    make: Callable[[TrainableActivation, str], NewActivation],
    remake: Remake | None = None,
) -> keras.Model:
    """Return a copy of a model in which the trainable activations are replaced.

    Args:
        model: As for `Plan`.
        make: Function of a trainable activation and the name of the new layer. It
            returns the replacement or raises `KeptError`.
        remake: As for `Plan`.

    Raises:
        ValueError: If the model has no trainable activation, or cannot be copied.
    """
    check_model(model)
    trainable_activations(model)

    def decide(place: Place) -> NewActivation | None:
        if not isinstance(place.activation, TrainableActivation):
            return None
        return make(place.activation, place.name)

    names = [layer.name for _, layer in layers_of(model)]
    plan = Plan(model, decide, names, remake=remake)
    result = replace_activations(plan)
    keep_report(result, report_of(plan.changes))
    return result


class _Surgery:
    """Makes the parts of a model again, with other activations."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: dict[int, Any] = {}  # new layers by the id of the old one
        self._behind: dict[int, keras.layers.Layer] = {}  # by the id of a new layer
        # Old layer, new layer, and the pairs of old and new activations inside.
        self._copies: list[tuple[Node, Node, list[tuple[Any, Any]]]] = []
        self._pairs: list[tuple[Any, Any]] = []

    def make(self, part: Part) -> Any:
        """Return the new layer of a part, the same one at each use."""
        layer = part.layer
        if id(layer) not in self._made:
            if part.copy is not None:
                put_into(part.copy, layer, part.changes)
                new = part.copy
            elif part.parts:
                new = self._graph(layer, part.parts)
            else:
                new = self._changed(part) or self._copied(layer)
            self._pairs.append((layer, new))
            self._made[id(layer)] = new
        return self._made[id(layer)]

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

    def _graph(self, model: keras.Model, parts: dict[int, Part]) -> keras.Model:
        """Return a copy of a Sequential or Functional model."""

        def make(layer: Node) -> Any:
            part = parts[id(layer)]
            new = self.make(part)
            inner = part.parts if self._plan.plain else None
            both = parts.keys() & (inner or {}).keys()
            # The file of a plain Functional model does not record shared layers.
            shared = any(getattr(parts[key].layer, "weights", ()) for key in both)
            return new.call if shared else new

        return clone(model, make, self._behind)

    def _changed(self, part: Part) -> keras.layers.Layer | None:
        """Return a layer with the new activations of a part, if there are any."""
        layer, configuration = part.layer, part.configuration
        chosen = [(each, each.new.layer) for each in part.changes if each.new]
        if not chosen:
            return None
        if configuration is None:  # an activation in the graph
            [(change, new)] = chosen
            change.outer = new
            return new
        try:
            return self._exchanged(layer, configuration, chosen)
        except Exception as error:  # third-party layers may raise any error
            for change, _ in chosen:
                change.kept = f"a {type(layer).__name__} takes no other: {error}"
            return None

    def _exchanged(
        self,
        layer: Any,
        configuration: Configuration,
        chosen: Sequence[tuple[Change, keras.layers.Layer]],
    ) -> keras.layers.Layer:
        """Return a copy of a layer with other activations inside or behind it."""
        made, built_in = layer, configuration.built_in
        in_layer = isinstance(getattr(layer, "activation", None), keras.layers.Layer)
        if built_in and self._plan.inplace and not in_layer:
            layer.activation = keras.activations.linear
        else:
            made = configuration.make([(change.place, new) for change, new in chosen])
            inside = [(change.place.activation, new) for change, new in chosen]
            self._copies.append((layer, made, inside))
        for change, new in chosen:
            change.outer = new if built_in else made
            if built_in:
                self._behind[id(made)] = new
                self._pairs.append((layer, new))
        return made

    def _copied(self, layer: Node) -> Any:
        """Return an equal layer, or the layer itself if there is nothing to copy."""
        if self._plan.inplace:
            return layer
        try:
            remake = self._plan.remake
            new = remake.make(layer, remake.describe(layer))
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
