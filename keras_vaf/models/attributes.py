"""`replace_attributes`, which changes a subclassed model by setting attributes."""

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.keras_internals import (
    all_layers,
    inner_layers,
    unlocked,
    untrack,
)
from keras_vaf.models.changes import Change
from keras_vaf.models.fixed import attributes_of, held_by, is_activation, label
from keras_vaf.models.graph import GATES, OUTPUT, is_graph
from keras_vaf.models.rebuild import (
    Decisions,
    Place,
    Replace,
    rebuild,
)

MAY_BE_A_GATE = "it may be a gate, or shape an output; name it in `layers`"


def replace_attributes(
    model: keras.Model, replace: Replace, check: Callable[[list[Change]], None]
) -> list[Change]:
    """Replace the activations that are attributes of the layers of a model.

    Args:
        model: A model whose class defines `call`. It is changed.
        replace: As for `rebuild`.
        check: As for `rebuild`.

    Returns:
        What became of each activation. If one is replaced, the model refuses to be
        saved as a whole, because its configuration does not hold the new activations.
    """
    work = _Attributes(Decisions(model, replace), replace)
    work.visit(model, "", False)
    check(work.decisions.changes)
    for act in work.actions:
        act()
    if any(not change.kept for change in work.decisions.changes):
        model.get_config = _refuse
    shape = (model.get_build_config() or {}).get("input_shape")
    found = all_layers(model)
    vafs = [each for each in found if isinstance(each, TrainableActivation)]
    if shape and not all(each.weights for each in vafs):
        zeros = keras.tree.map_shape_structure(_zeros, shape)
        model(zeros, training=False)  # builds the new activations
    return work.decisions.changes


def reasons_of_attributes(model: keras.Model) -> dict[int, str]:
    """Return the reasons to keep activations of a model without a graph, by layer.

    Its last layer, and each sigmoid or tanh, may shape an output or gate other values.

    Args:
        model: A model whose class defines `call`.
    """
    found: dict[int, str] = {}
    for layer in all_layers(model, include_self=False):
        held = [*held_by(layer).values(), layer]
        if any(label(each) in GATES for each in held):
            found[id(layer)] = MAY_BE_A_GATE
    for layer in all_layers(model.layers[-1]) if model.layers else ():
        found[id(layer)] = OUTPUT
    return found


class _Attributes:
    """Replaces the activations of a model, layer by layer."""

    def __init__(self, decisions: Decisions, replace: Replace) -> None:
        self.decisions, self._replace = decisions, replace
        self.actions: list[Callable[[], None]] = []  # run once all are decided
        self._seen: set[tuple[int, str]] = set()

    def visit(self, holder: Any, path: str, recurrent: bool) -> None:
        """Replace the activations of a layer and of its inner layers."""
        recurrent = recurrent or isinstance(holder, keras.layers.RNN)
        if not is_activation(holder):
            for name, activation in held_by(holder).items():
                if (id(holder), name) not in self._seen:
                    self._set_function(holder, name, activation, path, recurrent)
        for part in _parts(holder):
            inner = f"{path}/{part.name}".lstrip("/")
            if is_graph(part):
                new, changes = rebuild(part, self._replace, True, path=f"{inner}/")
                self.decisions.changes += changes
                self.actions.append(functools.partial(_exchange, holder, part, new))
            elif is_activation(part):
                place = Place(part, part, inner, part.name, recurrent=recurrent)
                change = self.decisions.decide(place)
                if change is not None:
                    exchange = functools.partial(_exchange, holder, part, change.new)
                    self.actions.append(exchange)
            else:
                self.visit(part, inner, recurrent)

    def _set_function(
        self, holder: Any, name: str, activation: Any, path: str, recurrent: bool
    ) -> None:
        """Replace a function in a layer, which may hand it on to inner layers."""
        slots = [
            (part, own)
            for part in all_layers(holder)
            for own, held in held_by(part).items()
            if held is activation
        ]
        self._seen |= {(id(part), own) for part, own in slots}
        new = self.decisions.name(path)
        change = self.decisions.decide(
            Place(activation, holder, path, new, recurrent=recurrent)
        )
        if change is not None:
            change.new.trainable = holder.trainable
            for part, own in slots:
                self.actions.append(functools.partial(_set, part, own, change.new))


def _parts(holder: Any) -> Iterator[keras.layers.Layer]:
    """Yield the inner layers of a layer, without its activations."""
    own = set(map(id, held_by(holder).values()))
    layers = holder.layers if isinstance(holder, keras.Model) else inner_layers(holder)
    yield from [each for each in layers if id(each) not in own]


def _set(layer: Any, name: str, value: Any) -> None:
    """Set an attribute of a built layer, which Keras has locked."""
    with unlocked(layer):
        setattr(layer, name, value)


def _exchange(holder: Any, old: keras.layers.Layer, new: keras.layers.Layer) -> None:
    """Put a layer in the place of another one in the attributes of a layer."""
    if not old.trainable:  # True would also reach frozen layers inside
        new.trainable = False
    with unlocked(holder):
        for name, value in attributes_of(holder).items():
            if value is old:
                untrack(holder, old)
                setattr(holder, name, new)
            elif isinstance(value, list) and name != "_layers":
                for i, each in enumerate(value):
                    if each is old:
                        value.pop(i)
                        value.insert(i, new)


def _refuse() -> NoReturn:
    raise ValueError(
        "The configuration of a model whose class defines `call` does not hold the "
        "activations that `convert` put into it. Save the model by its weights: "
        "`save_weights`, and `load_weights` into a model that was converted in the "
        "same way."
    )


def _zeros(shape: tuple[int | None, ...]) -> Any:
    return keras.ops.zeros([size or 2 for size in shape])
