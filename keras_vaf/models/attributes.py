"""`replace_attributes`, which changes a subclassed model by setting attributes."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

import keras

from keras_vaf.layers.keras_internals import (
    all_layers,
    inner_layers,
    unlocked,
    untrack,
)
from keras_vaf.models.changes import Change
from keras_vaf.models.fixed import attributes_of, held_by, is_activation
from keras_vaf.models.graph import is_graph, run
from keras_vaf.models.rebuild import Place, Rebuilding, Replace


def replace_attributes(
    model: keras.Model,
    replace: Replace,
    check: Callable[[list[Change]], None],
    data: Any,
) -> list[Change]:
    """Change a model whose class defines `call` (see `rebuild` for the arguments).

    The model then refuses to be saved as a whole, because its configuration does not
    hold the new activations.
    """
    work = Rebuilding(model, replace, inplace=True)
    actions = [*_actions(work, model, "", False, set())]
    check(work.changes)
    new = [change.new for change in work.changes if not change.kept]
    unbuilt = not all(each.weights for each in new)
    if unbuilt:
        run(model, data)  # raises an error before anything is changed
    work.finish()
    for act in actions:
        act()
    inside = set(map(id, all_layers(model)))
    for change in work.changes:
        if not change.kept and id(change.new) not in inside:
            change.kept = "no attribute of a layer holds it"
    if new:
        model.get_config = _refuse
    if unbuilt:
        run(model, data)
    return work.changes


def _actions(
    work: Rebuilding,
    holder: Any,
    path: str,
    recurrent: bool,
    seen: set[tuple[int, str]],
) -> Iterator[Callable[[], None]]:
    """Yield the actions that replace the activations of a layer and of its parts."""
    recurrent = recurrent or isinstance(holder, keras.layers.RNN)
    held = held_by(holder)
    # A layer may hand its activation on to inner layers.
    receivers = [holder] if isinstance(holder, keras.Model) else all_layers(holder)
    for name, activation in held.items():
        if (id(holder), name) in seen:
            continue
        slots = [
            (part, own)
            for part in receivers
            for own, other in held_by(part).items()
            if other is activation
        ]
        seen |= {(id(part), own) for part, own in slots}
        where = path or holder.name
        place = Place(activation, holder, where, work.name(where), recurrent=recurrent)
        change = work.decide(place)
        if change is not None:
            change.new.trainable = holder.trainable
            for part, own in slots:
                yield partial(_set, part, own, change.new)
    parts = holder.layers if isinstance(holder, keras.Model) else inner_layers(holder)
    for part in parts:
        inner = f"{path}/{part.name}".lstrip("/")
        if any(part is each for each in held.values()):
            continue
        if id(part) not in work.made:
            work.made[id(part)] = None
            if is_graph(part):
                work.made[id(part)] = work.graph(part, f"{inner}/")
            elif is_activation(part):
                place = Place(part, part, inner, part.name, recurrent=recurrent)
                change = work.decide(place)
                work.made[id(part)] = change and change.new
            else:
                yield from _actions(work, part, inner, recurrent, seen)
        if work.made[id(part)] is not None:
            yield partial(_exchange, holder, part, work.made[id(part)])


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
            changed = _exchanged(value, old, new)
            if changed is not value and name not in ("_layers", "_modules"):
                untrack(holder, old)
                setattr(holder, name, changed)


def _exchanged(value: Any, old: Any, new: Any) -> Any:
    """Return a value, or a copy that holds the new layer if it holds the old one."""
    if value is old:
        return new
    if not isinstance(value, dict | list | tuple):
        return value
    keys = value if isinstance(value, dict) else range(len(value))
    made = {key: _exchanged(value[key], old, new) for key in keys}
    if all(made[key] is value[key] for key in keys):
        return value
    return made if isinstance(value, dict) else [*made.values()]


def _refuse() -> NoReturn:
    raise ValueError(
        "The configuration of a model whose class defines `call` does not hold the "
        "activations that `convert` put into it. Save the model by its weights: "
        "`save_weights`, and `load_weights` into a model that was converted in the "
        "same way."
    )
