"""`Exchanging`, which changes a subclassed model by setting attributes."""

from collections.abc import Iterator
from typing import Any, NoReturn

import keras

from keras_vaf.layers import keras_internals
from keras_vaf.models.fixed import attributes_of, held_by, is_activation
from keras_vaf.models.graphs import checks, running
from keras_vaf.models.rebuild import Rebuilding, Replace


class Exchanging:
    """Other activations in a model whose class defines `call`, which itself changes.

    The model then refuses to be saved as a whole, because its configuration does not
    hold the new activations.
    """

    def __init__(self, model: Any, replace: Replace, inplace: bool = True) -> None:
        self._edits, self._model = Rebuilding(model, replace, inplace), model
        self._holders = [*self._found(model, "", False, {})]
        self.drafts = self._edits.drafts

    def finish(self, data: Any = None) -> keras.Model:
        """Return the model (see `Rebuilding`)."""
        model, new = self._model, [each.new for each in self.drafts if not each.kept]
        unbuilt = not all(each.weights for each in new)
        if unbuilt:
            running.run(model, data)  # raises an error before anything is changed
        self._edits.carry_over()
        for holder, functions in self._holders:
            _exchange(holder, functions, self._edits.made)
        inside = set(map(id, keras_internals.all_layers(model)))
        for change in self.drafts:
            if not change.kept and id(change.new) not in inside:
                change.kept = "no attribute of a layer holds it"
        if new:
            model.get_config = _refuse
        if unbuilt:
            running.run(model, data)
        return model

    def _found(
        self, holder: Any, path: str, recurrent: bool, handed: dict[int, Any]
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield a layer and its parts, each with the new functions of its attributes.

        `handed` has the new layers of functions that a layer may hand on to its parts.
        """
        recurrent = recurrent or isinstance(holder, keras.layers.RNN)
        held, made = held_by(holder), self._edits.made
        for each in held.values():
            if id(each) not in handed:
                where = path or holder.name
                change = self._edits.decide(each, holder, where, recurrent=recurrent)
                handed = {**handed, id(each): change and change.new}
        yield holder, {name: handed[id(each)] for name, each in held.items()}
        model = isinstance(holder, keras.Model)
        for part in holder.layers if model else keras_internals.inner_layers(holder):
            inner = f"{path}/{part.name}".lstrip("/")
            if id(part) in made or any(part is each for each in held.values()):
                continue
            made[id(part)] = part
            if checks.is_graph(part):
                made[id(part)] = self._edits.graph(part, f"{inner}/")
            elif is_activation(part):
                change = self._edits.decide(
                    part, part, inner, part.name, recurrent=recurrent
                )
                made[id(part)] = part if change is None else change.new
            else:
                yield from self._found(part, inner, recurrent, {} if model else handed)


def _exchange(holder: Any, functions: dict[str, Any], made: dict[int, Any]) -> None:
    """Put new functions and layers in the place of others in a layer's attributes."""
    changed = {
        name: new
        for name, value in attributes_of(holder).items()
        if name not in ("_layers", "_modules")  # lists of all parts
        and (new := functions.get(name) or _exchanged(value, made)) is not value
    }
    with keras_internals.unlocked(holder):
        for part in [*keras_internals.inner_layers(holder)] if changed else ():
            if part is not made.get(id(part), part):
                keras_internals.untrack(holder, part)
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
        "`save_weights`, and `load_weights` into a model that was converted equally."
    )
