"""`replace_attributes`, which changes a subclassed model by setting attributes."""

from collections.abc import Callable, Iterator
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
from keras_vaf.models.rebuild import Rebuilding, Replace

Held = dict[tuple[int, str], tuple[Any, str, Any]]
"""Layer, attribute and new activation, or `None`, of each function that is held."""


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
    work, held = Rebuilding(model, replace, inplace=True), Held()
    holders = [*_decide(work, model, "", False, held)]
    check(work.changes)
    new = [change.new for change in work.changes if not change.kept]
    unbuilt = not all(each.weights for each in new)
    if unbuilt:
        run(model, data)  # raises an error before anything is changed
    work.finish()
    for layer, name, activation in held.values():
        if activation is not None:
            with unlocked(layer):
                setattr(layer, name, activation)
    for holder in holders:
        _exchange(holder, work.made)
    inside = set(map(id, all_layers(model)))
    for change in work.changes:
        if not change.kept and id(change.new) not in inside:
            change.kept = "no attribute of a layer holds it"
    if new:
        model.get_config = _refuse
    if unbuilt:
        run(model, data)
    return work.changes


def _decide(
    work: Rebuilding, holder: Any, path: str, recurrent: bool, held: Held
) -> Iterator[Any]:
    """Decide on the activations in a layer and its parts, and yield these layers."""
    yield holder
    recurrent = recurrent or isinstance(holder, keras.layers.RNN)
    model, own = isinstance(holder, keras.Model), held_by(holder)
    for own_name, activation in own.items():
        if (id(holder), own_name) in held:
            continue
        where = path or holder.name
        name = work.name(where)
        change = work.decide(activation, holder, where, name, False, recurrent)
        if change is not None:
            change.new.trainable = holder.trainable
        # A layer may hand its activation on to inner layers.
        for part in [holder] if model else all_layers(holder):
            for slot, other in held_by(part).items():
                if other is activation:
                    held[id(part), slot] = part, slot, change and change.new
    for part in holder.layers if model else inner_layers(holder):
        inner = f"{path}/{part.name}".lstrip("/")
        if id(part) in work.made or any(part is each for each in own.values()):
            continue
        work.made[id(part)] = part
        if is_graph(part):
            work.made[id(part)] = work.graph(part, f"{inner}/")
        elif is_activation(part):
            change = work.decide(part, part, inner, part.name, False, recurrent)
            if change is not None:
                change.new.trainable = part.trainable
                work.made[id(part)] = change.new
        else:
            yield from _decide(work, part, inner, recurrent, held)


def _exchange(holder: Any, made: dict[int, Any]) -> None:
    """Put new layers in the place of others in the attributes of a layer."""
    changed = {
        name: new
        for name, value in attributes_of(holder).items()
        if name not in ("_layers", "_modules")  # lists of all parts
        and (new := _exchanged(value, made)) is not value
    }
    with unlocked(holder):
        for part in [*inner_layers(holder)] if changed else ():
            if part is not made.get(id(part), part):
                untrack(holder, part)
        for name, value in changed.items():
            setattr(holder, name, value)


def _exchanged(value: Any, made: dict[int, Any]) -> Any:
    """Return a new layer, a container with new layers, or the value itself."""
    if not isinstance(value, dict | list | tuple):
        return made.get(id(value), value)
    keys = value if isinstance(value, dict) else range(len(value))
    new = {key: _exchanged(value[key], made) for key in keys}
    if all(new[key] is value[key] for key in keys):
        return value
    return new if isinstance(value, dict) else [*new.values()]


def _refuse() -> NoReturn:
    raise ValueError(
        "The configuration of a model whose class defines `call` does not hold the "
        "activations that `convert` put into it. Save the model by its weights: "
        "`save_weights`, and `load_weights` into a model that was converted in the "
        "same way."
    )
