"""`OwnModel`, a user's Keras model and its data in the place of a `Dataset`."""

import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import keras
import numpy as np

from keras_vaf.experiments.arms import AS_IT_IS, Arm
from keras_vaf.experiments.recipe import Fold, Recipe, Wanted
from keras_vaf.models import convert, report
from keras_vaf.models.files import load_model
from keras_vaf.models.graph import compile_like
from keras_vaf.training import NetworkRun, Trainer, train
from keras_vaf.training.data import number_of_rows, take, to_arrays
from keras_vaf.training.history import metrics_of
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import seed_random_layers
from keras_vaf.utils import checksum

_MOST_CLASSES = 1_000
_ROWS_AT_ONCE = 256  # of a test


@dataclass(frozen=True, eq=False)
class OwnModel:
    """A function that builds a compiled model, and the data that train it.

    Attributes:
        build: Returns a new compiled model.
        data: Inputs and targets, as arrays or structures of arrays. The last rows are
            those of a given test set.
        task: The score, as in `results.score_of`.
        network_name: The name of the model, without a number.
        rate: The learning rate with which the model is compiled.
        y: The targets that stratify the rows, or zeros.
        class_names: The names of the classes, if the rows are stratified.
        checksum: Hash of data, architecture, compile arguments and a start.
        tested: Number of rows of a given test set, or 0.
    """

    build: Callable[[], keras.Model]
    data: tuple[Any, Any]
    task: str
    network_name: str
    rate: float
    y: np.ndarray
    class_names: tuple[str, ...] | None
    checksum: str
    tested: int = 0
    name: str = "own data"
    # What a table has, too.
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
        """Return the compiled model of an arm, with the start of a fold."""
        [kernels] = independent_seeds(seed, fold, "network")
        model = _built(self.build, self.data[0], kernels)
        if arm == AS_IT_IS:
            return model
        if arm.layer == "VAFActivation" and "initialization" not in arm.arguments:
            return convert(model, **arm.arguments)
        places = itertools.count()

        def layer(holder: Any) -> keras.layers.Layer:
            [own] = independent_seeds(seed, fold, "activation", next(places))
            made = arm.build(own)
            rank = len(getattr(holder, "output", np.empty((1, 1))).shape)
            if type(made) is keras.layers.PReLU and rank > 2 and not arm.arguments:
                last = getattr(holder, "data_format", "") != "channels_first"
                axes = range(1, rank - 1) if last else range(2, rank)
                return keras.layers.PReLU(shared_axes=[*axes])  # one slope a channel
            return made

        return convert(model, to=layer)

    def arms(self, wanted: Sequence[Arm]) -> tuple[Arm, ...]:
        """Return the arms without those that only repeat the model as it is."""
        kept = []
        for arm in wanted:
            network = self.network(arm, 0, 0)
            if arm != AS_IT_IS and AS_IT_IS in wanted:
                before = {change.before for change in report(network).replaced}
                if before == {arm.name}:
                    continue
            kept.append(arm)
        return tuple(kept)

    def recipe(self, recipe: Recipe | None, quick: bool) -> Recipe:
        """Return the recipe, by default with learning rates around the model's."""
        if recipe is None:
            shares = (1.0,) if quick else (1 / 3, 1.0, 3.0)
            rates = tuple(float(f"{share * self.rate:.3g}") for share in shares)
            recipe = Recipe(learning_rates=rates, folds=3, test_size=0.2)
            recipe = replace(recipe, epochs=30) if quick else recipe
        if self.tested:
            recipe = replace(recipe, test_size=self.tested)
        return replace(recipe, hidden=())  # the model is its own

    @property
    def rows(self) -> int:
        """Number of rows that are not those of a given test set."""
        return len(self.y) - self.tested


def own_model(model: Any, data: Any, test_data: Any = None) -> OwnModel:
    """Return a model of one's own and its data, which `compare` has checked.

    Args:
        model: A function that returns a compiled model, or a model, or its file.
        data: Inputs and targets.
        test_data: Inputs and targets of a test set.

    Raises:
        ValueError: If the model is not compiled, if its learning rate is not a number,
            or if the data are not arrays of equal length.
    """
    arrays, tested = to_arrays("`data`", data), 0
    if test_data is not None:
        last = to_arrays("`test_data`", test_data)
        tested = number_of_rows(last)
        arrays = keras.tree.map_structure(
            lambda *parts: np.concatenate(parts), arrays, last
        )
    build = _builder(model)
    first = _built(build, arrays[0], 0)
    try:
        rate = float(first.optimizer.get_config()["learning_rate"])
    except TypeError as error:
        raise ValueError(
            "The learning rate varies, so the optimizer of `model` must have a number, "
            f"not a schedule. Received: {first.optimizer.learning_rate!r}"
        ) from error
    y = keras.tree.flatten(arrays[1])[0]
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    y = y.argmax(1) if y.ndim == 2 and set(np.unique(y)) == {0, 1} else y
    whole = y.ndim == 1 and np.all(y == np.round(y))
    classes = np.unique(y)
    few = whole and y.dtype.kind in "iub" and len(classes) <= _MOST_CLASSES
    names = tuple(map(str, classes)) if few else None
    parts = (*keras.tree.flatten(arrays), *first.get_weights())
    kind = "built" if build is model else "given"  # a given one has one start only
    text = f"{kind} {tested} {_text_of(first)}"
    digest = checksum((*parts, np.frombuffer(text.encode(), "uint8")))
    score = _score_of(first, arrays)
    title = "model " + re.sub(r"_\d+$", "", first.name)
    y = y if few else np.zeros(len(y), "float32")
    return OwnModel(build, arrays[:2], score, title, rate, y, names, digest, tested)


def _builder(model: Any) -> Callable[[], keras.Model]:
    """Return a function that returns a new model, or a copy of a given one."""
    if isinstance(model, str | os.PathLike):
        model = load_model(model)
    if not isinstance(model, keras.Model):
        return model

    def copy() -> keras.Model:
        made = keras.models.clone_model(model)
        made.set_weights(model.get_weights())
        compile_like(made, model)
        return made

    return copy


def _built(build: Callable[[], Any], x: Any, seed: int) -> keras.Model:
    """Return a new model with weights, whose start depends only on the seed."""
    keras.utils.set_random_seed(seed)
    model = build() if callable(build) else build
    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(
            "`model` must be a compiled Keras model, the path of one, or a function "
            f"without arguments that returns one. Received: {model!r}, not compiled"
        )
    if not model.built:
        model(take(x, slice(1)))
    return model


def _text_of(model: keras.Model) -> str:
    """Return architecture and compile arguments, without the numbers of names."""
    text = json.dumps([json.loads(model.to_json()), model.get_compile_config()])
    names = dict.fromkeys(re.findall(r'"name": ("[^"]*")', text))
    for place, name in enumerate(names):
        text = text.replace(name, f'"{place}"')
    return text


def _score_of(model: keras.Model, data: tuple[Any, ...]) -> str:
    """Return the first metric whose direction Keras knows, or else the loss."""
    Trainer(model).prepare(data)
    metrics = itertools.chain.from_iterable(
        getattr(metric, "metrics", [metric]) for metric in model.metrics
    )
    known = {each.name: getattr(each, "_direction", None) for each in metrics}
    for name in metrics_of(model):
        if name != "loss" and known.get(name) in ("up", "down"):
            return f"{'maximize' if known[name] == 'up' else 'minimize'} {name}"
    return "minimize loss"


@lru_cache(maxsize=1)
def trainer_of_model(own: OwnModel, arm: Arm, recipe: Recipe) -> Trainer:
    """Return the trainer of all networks of an arm, which compiles once."""
    flat = all(np.ndim(leaf) == 2 for leaf in keras.tree.flatten(own.x))
    width = recipe.width if flat else 1  # convolutions are slower together, on a CPU
    return Trainer(
        own.network(arm, 0, 0), recipe.batch_size, recipe.patience, width=width
    )


def train_models(
    folds: Sequence[Fold], arm: Arm, recipe: Recipe, wanted: Wanted
) -> Iterator[dict[str, Any]]:
    """Yield the record of each wanted training, as `networks.train_networks` does."""
    own, seed = folds[0].dataset, folds[0].seed
    trainer, score = trainer_of_model(own, arm, recipe), own.task.partition(" ")[2]
    order = sorted(wanted, key=lambda each: each[1])
    for place in range(0, len(order), trainer.width):
        batch, runs = order[place : place + trainer.width], []
        for number, rate in batch:
            start = own.network(arm, seed, number).get_weights()
            [shuffling] = independent_seeds(seed, number, "shuffling")
            rows = folds[number].rows
            runs.append(NetworkRun(start, rows.train, rows.validation, shuffling, rate))
        trained = trainer.train_runs(own.data, runs, recipe.epochs)
        for (number, rate), (history, weights) in zip(batch, trained, strict=True):
            trainer.model.set_weights(weights)
            best, test = history.best, take(own.data, folds[number].rows.test)
            found = trainer.model.evaluate(
                *test, batch_size=_ROWS_AT_ONCE, verbose=0, return_dict=True
            )
            yield {
                **folds[number].record(),
                "learning_rate": rate,
                "epochs": history.epochs,
                "best_epoch": history.best_epoch,
                "val_loss": best.get("val_loss"),
                "validation": best.get(f"val_{score}", float("nan")),
                "test": float(found[score]),
                "parameters": sum(
                    int(np.prod(w.shape)) for w in trainer.model.trainable_weights
                ),
                "seconds": round(history.seconds, 3),
            }


def refit_model(
    own: OwnModel, arm: Arm, recipe: Recipe, rate: float, epochs: int, seed: int = 0
) -> keras.Model:
    """Train the model of an arm on all rows that are not those of a given test set."""
    network = own.network(arm, seed, recipe.folds)  # no fold has this number
    network.optimizer.learning_rate = rate
    [shuffling] = independent_seeds(seed, recipe.folds, "shuffling")
    seed_random_layers(network, shuffling)
    x, y = take(own.data, slice(own.rows))
    train(network, x, y, None, epochs, recipe.batch_size, seed=shuffling)
    return network
