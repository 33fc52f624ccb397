"""`OwnModel`, a user's Keras model and its data in the place of a `Dataset`."""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import keras
import numpy as np

from keras_vaf.experiments.arms import AS_IT_IS, UNCHANGED, Arm
from keras_vaf.experiments.recipe import Fold, Recipe
from keras_vaf.models import convert, report
from keras_vaf.models.files import load_model
from keras_vaf.training.compiled import (
    builder_of,
    built,
    compile_arguments,
    evaluated,
    rate_of,
    score_of,
    takes_values,
    text_of,
)
from keras_vaf.training.data import number_of_rows, take, to_arrays
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import checksum

_MOST_CLASSES = 1_000
_NO_EFFECT = ("hidden", "optimizer", "optimizer_arguments", "missing", "targets")


@dataclass(frozen=True, eq=False)
class OwnModel:
    """A function that builds a compiled model, and the data that train it."""

    build: Callable[..., keras.Model]  # a new model, or a copy of a trained one
    data: tuple[Any, ...]  # the last rows are those of a given test set
    task: str  # the score, as in `results.score_of`
    network_name: str  # without a number
    rate: float  # the learning rate with which the model is compiled
    y: np.ndarray  # the targets that stratify the rows, or zeros
    class_names: tuple[str, ...] | None  # `None` if the rows are not stratified
    checksum: str  # of data, architecture, compile arguments and a start
    tested: int = 0  # number of rows of a given test set
    trained: bool = False  # true if a trained model was given
    name: str = "own data"
    # The rest is that of a table.
    target: str = ""
    feature_names: tuple[str, ...] = ()
    categories: dict[int, Any] = field(default_factory=dict)
    groups: None = None
    times: None = None

    @property
    def x(self) -> Any:
        """The inputs."""
        return self.data[0]

    def network(self, arm: Arm, seed: int, fold: int) -> keras.Model:
        """Return the compiled model of an arm, with the start of a fold.

        All arms have the kernels, the loss, the metrics and the optimizer that the
        function itself makes.
        """
        [kernels] = independent_seeds(seed, fold, "network")
        if arm.name == "vaf-searched" and takes_values(self.build):
            return built(self.build, self.data, kernels, arm.arguments)
        model = built(self.build, self.data, kernels)
        if arm in (AS_IT_IS, UNCHANGED):
            return model
        arguments = compile_arguments(model)
        model.compiled = False  # `convert` would make new objects
        if arm.layer == "VAFActivation" and "initialization" not in arm.arguments:
            changed = convert(model, **arm.arguments)
        else:
            changed = convert(model, to=_maker(arm, seed, fold))
        changed.compile(**arguments)
        return changed

    @property
    def together(self) -> bool:
        """True if JAX may train several networks at once, which takes no weights."""
        # Convolutions are slower together, on a CPU.
        flat = all(np.ndim(leaf) == 2 for leaf in keras.tree.flatten(self.x))
        return flat and len(self.data) == 2

    def arrays(self, folds: Sequence[Fold]) -> tuple[Any, int]:
        """Return the data, which all folds share, and thus no rows of each."""
        return self.data, 0

    def measured(self, network: keras.Model, fold: Fold) -> dict[str, Any]:
        """Return the scores of a trained network in a fold, and its parameters."""
        score = self.task.partition(" ")[2]
        held, test = (evaluated(network, self.data, rows) for rows in fold.rows[1:])
        count = sum(math.prod(weight.shape) for weight in network.trainable_weights)
        found = {"validation": held[score], "test": test[score], "parameters": count}
        # All trainings have the same test rows, if these were given.
        share = {"share": 0.0} if self.tested else {}
        return found | share | {"val_loss": held["loss"]}

    def whole(self) -> tuple[Any, Callable[[keras.Model], keras.Model]]:
        """Return the rows that no test set was given, for a network that stays so."""
        used = take(self.data, slice(len(self.y) - self.tested))
        return used, lambda network: network

    def arms(self, wanted: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the arms without those that only repeat the model as it is."""

        def replaced(arm: Arm) -> set[str]:
            network = self.network(arm, 0, 0)  # checks the arm
            changed = report(network).replaced if arm.layer else ()
            return {each.before for each in changed}

        alone = AS_IT_IS not in wanted
        return tuple(arm for arm in wanted if replaced(arm) != {arm.name} or alone)

    def recipe(self, given: Recipe | None, epochs: int | None, quick: bool) -> Recipe:
        """Return the recipe, by default with learning rates around the model's."""
        if given is None and epochs is None:
            raise ValueError(
                "A model of your own needs the largest number of `epochs`; training "
                "stops early by the validation loss. Received: epochs=None"
            )
        default = Recipe()
        if given is None:
            shares = (1.0,) if quick else (1 / 3, 1.0, 3.0)
            rates = tuple(float(f"{share * self.rate:.3g}") for share in shares)
            given = replace(default, learning_rates=rates, folds=1, test_size=0.2)
        for name in _NO_EFFECT:
            if (own := getattr(given, name)) != getattr(default, name):
                raise ValueError(
                    f"`{name}` of a recipe is for tables: a model of your own has its "
                    f"layers, optimizer and data. Received: {name}={own!r}"
                )
        if self.tested:
            given = replace(given, test_size=self.tested)
        return given if epochs is None else replace(given, epochs=epochs)


def own_model(
    model: Any,
    data: Any,
    test_data: Any = None,
    metric: str | None = None,
    mode: str | None = None,
    searched: bool = False,
) -> OwnModel:
    """Return an own model and its data, checked; the arguments are of `compare`."""
    arrays, tested = to_arrays("`data`", data), 0
    if test_data is not None:
        last = to_arrays("`test_data`", test_data)
        tested = number_of_rows(last)
        arrays = _joined(arrays, last)
    if takes_values(model) and not searched:
        raise ValueError(
            "`model` must take none of the arguments that only `search` draws. "
            f"Received: {model!r}"
        )
    if isinstance(model, str | os.PathLike):
        model = load_model(model)
    build = builder_of(model, arrays)
    trained = build is not model
    if trained and not tested:
        raise ValueError(
            "A trained model needs `test_data`, rows that it has not seen in training. "
            "Received: test_data=None"
        )
    first, second = (built(build, arrays, 0) for _ in range(2))
    if first.optimizer is second.optimizer:
        raise ValueError(
            "The function `model` must make a new model and a new optimizer in each "
            "call. Received: the same ones twice"
        )
    y, names = _classes(arrays[1])
    parts = (*keras.tree.flatten(arrays), *first.get_weights())
    # A given model has one start only.
    text = f"{'given' if trained else 'built'} {tested} {text_of(first)}"
    digest = checksum((*parts, np.frombuffer(text.encode(), "uint8")))
    title = "model " + re.sub(r"_\d+$", "", first.name)
    known = score_of(first, metric, mode), title, rate_of(first)
    return OwnModel(build, arrays, *known, y, names, digest, tested, trained)


def _joined(data: tuple[Any, ...], last: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return data with the rows of a test set at the end."""
    try:
        return keras.tree.map_structure(lambda *a: np.concatenate(a), data, last)
    except ValueError as error:
        raise ValueError(
            "`test_data` must have the form of `data`: the same structure, and arrays "
            f"of equal shapes but for the rows. Received: {error}"
        ) from error


def _classes(targets: Any) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the targets that stratify the rows, and the names of their classes."""
    y = keras.tree.flatten(targets)[0]
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    y = y.argmax(1) if y.ndim == 2 and set(np.unique(y)) == {0, 1} else y
    classes = np.unique(y) if y.ndim == 1 and y.dtype.kind in "iub" else ()
    if 0 < len(classes) <= _MOST_CLASSES:
        return y, tuple(map(str, classes))
    return np.zeros(len(y), "float32"), None


def _maker(arm: Arm, seed: int, fold: int) -> Callable[[Any], keras.layers.Layer]:
    """Return a function that makes the activation behind each layer of a model."""
    places = itertools.count()

    def make(holder: Any) -> keras.layers.Layer:
        [own] = independent_seeds(seed, fold, "activation", next(places))
        made = arm.build(own)
        rank = len(getattr(holder, "output", np.empty((1, 1))).shape)
        if type(made) is keras.layers.PReLU and rank > 2 and not arm.arguments:
            last = getattr(holder, "data_format", "") != "channels_first"
            axes = range(1, rank - 1) if last else range(2, rank)
            return keras.layers.PReLU(shared_axes=[*axes])  # one slope a channel
        return made

    return make
