"""`Plan`, which lists what becomes of each layer and each activation of a model."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import keras

from keras_vaf.models.analysis.fixed_activations import applied, is_activation, label
from keras_vaf.models.analysis.graphs import Node, is_graph, is_subclassed
from keras_vaf.models.analysis.held import Place, held_activations
from keras_vaf.models.surgery.changes import Change, KeptError, NewActivation
from keras_vaf.models.surgery.converted import copied
from keras_vaf.models.surgery.copies import Configuration, Remake


class Part(NamedTuple):
    """A layer or an operation of a model, or the model itself.

    Args:
        layer: The layer or operation.
        changes: What becomes of the activations that it is or contains.
        configuration: The configuration of a layer that is not an activation.
        parts: The parts of a Sequential or Functional model, by the id of their layer.
        copy: The copy of a subclassed model.
    """

    layer: Node
    changes: Sequence[Change] = ()
    configuration: Configuration | None = None
    parts: dict[int, Any] | None = None
    copy: keras.Model | None = None


class Plan:
    """The changes of all activations of a model, which is read once.

    Args:
        model: A Sequential or Functional model, or a subclassed model with weights.
        decide: Function called once for each activation, including those that cannot be
            replaced. It returns the replacement, or `None` to ignore the activation, or
            raises `KeptError` with the reason why the activation is kept.
        names: Names of layers that new layers must not get.
        inplace: Whether to use the layers of the model instead of copies.
        remake: Makes the layers again. If it is given, subclassed models become plain
            Functional models, and the result is not compiled.

    Attributes:
        changes: What becomes of each activation.
        whole: The model as a part.

    Raises:
        ValueError: If the model cannot be copied.
    """

    def __init__(
        self,
        model: keras.Model,
        decide: Callable[[Place], NewActivation | None],
        names: Iterable[str],
        inplace: bool = False,
        remake: Remake | None = None,
    ) -> None:
        self.inplace, self.plain = inplace, remake is not None
        self.remake = remake or Remake()
        self.changes: list[Change] = []
        self._decide, self._names = decide, set(names)
        self._parts: dict[int, Part] = {}  # by the id of the layer
        self.whole = self._model(model, "")

    def _model(self, model: keras.Model, prefix: str) -> Part:
        """Read a model, whose path is `prefix` without the last slash."""
        if is_subclassed(model) and not self.plain:
            copy = model if self.inplace else copied(model)
            if copy is not None:
                return Part(model, self._held(model, prefix), copy=copy)
        if not is_graph(model):
            raise ValueError(
                f"The class {type(model).__name__} makes no copy of the model "
                f"{model.name!r}. It needs a complete `get_config` and `from_config`. "
                f"With `inplace=True`, the model itself is used. Received: {model!r}"
            )
        nodes = getattr(model, "operations", None) or model.layers
        parts = {id(node): self._part(node, f"{prefix}{node.name}") for node in nodes}
        return Part(model, parts=parts)

    def _part(self, layer: Node, path: str) -> Part:
        """Read a layer or an operation, at its first use."""
        if id(layer) not in self._parts:
            if is_graph(layer):
                part = self._model(layer, f"{path}/")
            elif is_activation(layer):
                place = Place(applied(layer), layer, path, name=layer.name)
                part = Part(layer, [self._change(place)])
            elif isinstance(layer, keras.layers.Layer):
                configuration = Configuration(layer, path, self.remake)
                changes = [*map(self._change, configuration.places)]
                part = Part(layer, changes, configuration)
                self._refuse_inside(layer, path, configuration)
            else:
                part = Part(layer)
            self._parts[id(layer)] = part
        return self._parts[id(layer)]

    def _refuse_inside(
        self, layer: keras.layers.Layer, path: str, configuration: Configuration
    ) -> None:
        """Refuse the activations inside a layer that its configuration lacks."""
        named = [label(place.activation) for place in configuration.places]
        for place in () if configuration.built_in else held_activations(layer, path):
            if not place.recurrent and label(place.activation) not in named:
                owner = type(layer).__name__
                reason = f"no argument of {owner} with 'act' in its name holds it"
                self._change(place._replace(layer=layer), reason)

    def _held(self, model: keras.Model, prefix: str) -> list[Change]:
        """Read a subclassed model, and refuse the activations that its code calls."""
        changes = [*map(self._change, held_activations(model, prefix[:-1]))]
        for operation in getattr(model, "operations", ()):
            layer = isinstance(operation, keras.layers.Layer)
            if not layer and is_activation(operation):
                place = Place(operation, operation, f"{prefix}{operation.name}")
                self._change(place, f"the code of {type(model).__name__} calls it")
        return changes

    def _change(self, place: Place, refusal: str = "") -> Change:
        """Decide about an activation, which a reason may keep from being replaced."""
        last = place.path.rpartition("/")[2]
        name = place.name or (last if refusal else f"{last}_activation")
        while not place.name and not refusal and name in self._names:
            name = f"{name}_vaf"
        self._names |= {name}
        change = Change(place)
        try:
            change.new = self._decide(place._replace(name=name))
        except KeptError as reason:
            change.kept = str(reason)
        if change.new and refusal:
            change.kept = refusal
        self.changes.append(change)
        return change
