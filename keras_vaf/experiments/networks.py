"""`train_networks` and `fit_references`, which train one activation, and `refit`."""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import keras
import numpy as np

from keras_vaf import optimizers
from keras_vaf.datasets import Dataset, TableEncoder
from keras_vaf.datasets.scores import network_score, score
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.experiments.arms import UNCHANGED, Arm
from keras_vaf.experiments.own_model import OwnModel
from keras_vaf.experiments.recipe import Data, Fold, Recipe, Wanted
from keras_vaf.training import History, NetworkRun, Trainer
from keras_vaf.training.data import loss_of, number_of_rows, to_arrays
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import check_integer, check_kind, check_positive, class_of, require

_MOST_CATEGORIES = 255  # of a column, for scikit-learn's trees
_FEW_ROWS = 10_000  # of fewer rows, threads wait for each other
_NEVER = History({"loss": np.empty(0)}, 0, "epochs", 0.0)  # trained


@dataclass(frozen=True)
class Table:
    """A table in an experiment, with the methods of an `OwnModel`."""

    dataset: Dataset
    recipe: Recipe
    together = True  # such networks are small

    def network(self, arm: Arm, seed: int, fold: int) -> keras.Sequential:
        """Return the untrained, compiled network of an arm for a fold."""
        dataset, recipe = self.dataset, self.recipe
        count = 1 + len(recipe.hidden)
        kernels, *others = independent_seeds(seed, fold, "network", count=count)
        activations = (
            arm.build(own, name=f"activation_{place}")
            for place, own in enumerate(others, start=1)
        )
        # Any rows give the same number of inputs.
        row = np.arange(1)
        inputs, _ = recipe.fitted(dataset, row).transform(dataset, row)
        network = recipe.network(
            dataset, inputs.shape[1], lambda: next(activations), kernels
        )
        kind = class_of("optimizer", recipe.optimizer, optimizers, keras.optimizers)
        loss = loss_of(dataset.task == "classification")
        network.compile(kind(**recipe.optimizer_arguments), loss)
        return network

    def arrays(self, folds: Sequence[Fold]) -> tuple[Any, int]:
        """Return the rows of all folds, fold after fold, and the number of each."""
        # Each batch has data of the same shape, so that it runs the same program.
        number, dataset = min(self.recipe.width, self.recipe.folds), self.dataset
        fitted = [each.fitted for each in [*folds, *[folds[0]] * number][:number]]
        x = np.concatenate([each.transform_inputs(dataset.x) for each in fitted])
        y = np.concatenate([each.transform_targets(dataset.y) for each in fitted])
        return to_arrays("The preprocessed data", (x, y)), len(dataset.y)

    def measured(self, network: keras.Model, fold: Fold) -> dict[str, Any]:
        """Return the scores of a trained network in a fold, and its parameters."""
        own = network, self.dataset, fold.fitted
        scores = [network_score(*own, rows) for rows in fold.rows[1:]]
        found = dict(zip(("validation", "test"), scores, strict=True))
        return found | {"parameters": network.count_params()}

    def whole(self) -> tuple[Any, Callable[[keras.Model], keras.Model]]:
        """Return all rows, and what makes a trained network read cells of the table."""
        rows = self.recipe.usable_rows(self.dataset)
        fitted = self.recipe.fitted(self.dataset, rows)
        encoder = TableEncoder.of(self.dataset, fitted)
        data = to_arrays("The rows", fitted.transform(self.dataset, rows))
        return data, partial(with_encoder, encoder=encoder, fitted=fitted)


def experiment_of(data: Data, recipe: Recipe) -> Any:
    """Return what builds the networks of an experiment, and gives them rows."""
    return data if isinstance(data, OwnModel) else Table(data, recipe)


@lru_cache(maxsize=16)  # they hold compiled programs, and no data
def trainer_of(own: Any, arm: Arm, recipe: Recipe) -> Trainer:
    """Return the trainer of all networks of an activation, which compiles once."""
    network, width = own.network(arm, 0, 0), recipe.width if own.together else 1
    return Trainer(network, recipe.batch_size, recipe.patience, width=width)


def train_networks(
    folds: Sequence[Fold], arm: Arm, recipe: Recipe, wanted: Wanted
) -> Iterator[dict[str, Any]]:
    """Yield the record of each wanted training; on JAX, several end together."""
    own, seed = experiment_of(folds[0].dataset, recipe), folds[0].seed
    trainer, used = trainer_of(own, arm, recipe), {number for number, _ in wanted}
    starts = {number: own.network(arm, seed, number).get_weights() for number in used}
    # Networks with equal learning rates stop after similar numbers of epochs.
    order, size = sorted(wanted, key=lambda each: each[1]), trainer.width
    for place in range(0, len(order), size):
        batch = [(folds[number], rate) for number, rate in order[place : place + size]]
        data, runs = _runs(own, batch, starts)
        trained: Any = [(_NEVER, run.weights) for run in runs]
        if arm != UNCHANGED:
            trained = trainer.train_runs(data, runs, recipe.epochs)
        for (fold, rate), (history, weights) in zip(batch, trained, strict=True):
            trainer.model.set_weights(weights)
            measured = own.measured(trainer.model, fold)
            if arm != UNCHANGED:
                measured["val_loss"] = history.best.get("val_loss")
            yield {
                **fold.record(),
                **measured,
                "learning_rate": rate,
                "epochs": history.epochs,
                "best_epoch": history.best_epoch,
                "seconds": round(history.seconds, 3),
            }


def _runs(
    own: Any, wanted: Sequence[tuple[Fold, float]], starts: dict[int, Any]
) -> tuple[Any, list[NetworkRun]]:
    """Return the data of some trainings, and how each begins."""
    used = {fold.number: fold for fold, _ in wanted}
    (data, rows), runs = own.arrays([*used.values()]), []
    for fold, rate in wanted:
        [seed] = independent_seeds(fold.seed, fold.number, "shuffling")
        first = [*used].index(fold.number) * rows
        training, held, _ = (part + first for part in fold.rows)
        runs.append(NetworkRun(starts[fold.number], training, held, seed, rate))
    return data, runs


def fit_references(
    folds: Sequence[Fold], arm: Arm, recipe: Recipe, wanted: Wanted
) -> Iterator[dict[str, Any]]:
    """Yield the record of a model of scikit-learn, as `train_networks` does."""
    limits = require("threadpoolctl", extra="experiments").threadpool_limits
    for number, _ in wanted:
        fold, started = folds[number], time.perf_counter()
        dataset, fitted, rows = fold.dataset, fold.fitted, fold.rows.train
        model, x = _reference(fold, arm.name)
        y = fitted.transform_targets(dataset.y[rows])
        quiet = warnings.catch_warnings(action="ignore")  # it may not converge
        with quiet, limits(1 if len(y) < _FEW_ROWS else None):
            if len(np.unique(y)) == 1:  # classifiers refuse a single class
                predicted = np.full(len(x), y[0])
            else:
                predicted = model.fit(x[rows], y).predict(x)
        scores = [score(dataset, fitted, r, predicted[r]) for r in fold.rows[1:]]
        yield {
            **fold.record(),
            "validation": scores[0],
            "test": scores[1],
            "seconds": round(time.perf_counter() - started, 3),
        }


def _reference(fold: Fold, name: str) -> tuple[Any, np.ndarray]:
    """Return an untrained model with its default settings, and the inputs it reads."""
    dataset, classes = fold.dataset, fold.dataset.task == "classification"
    if name == "linear":
        linear: Any = require("sklearn.linear_model", extra="experiments")
        model = linear.LogisticRegression(max_iter=1_000) if classes else linear.Ridge()
        return model, fold.fitted.transform_inputs(dataset.x)
    # Trees read raw columns and missing entries, but no column without a value.
    x = np.where(np.isnan(dataset.x[fold.rows.train]).all(axis=0), 0, dataset.x)
    names = dataset.categories
    categories = [place for place in names if len(names[place]) < _MOST_CATEGORIES]
    [seed] = independent_seeds(fold.seed, fold.number, "trees")
    kind = f"HistGradientBoosting{'Classifier' if classes else 'Regressor'}"
    trees = getattr(require("sklearn.ensemble", extra="experiments"), kind)
    settings = {"early_stopping": False, "random_state": seed}
    return trees(categorical_features=categories or None, **settings), x


def refit(
    dataset: Data,
    arm: Arm,
    recipe: Recipe,
    learning_rate: float,
    epochs: int,
    seed: int = 0,
) -> keras.Model:
    """Train the network of an activation on all rows of a table.

    Args:
        dataset: The table.
        arm: The activation.
        recipe: The settings of the training.
        learning_rate: Learning rate, such as the one that most folds selected.
        epochs: Number of epochs, such as the median of the best epochs of the folds.
        seed: Seed of the initial weights and the shuffling.

    Returns:
        The trained network. Its inputs are rows from `TableEncoder.encode`, and its
        outputs are class probabilities, or the target in the units of the table.

    Raises:
        ValueError: If an argument is of another class or out of its range.

    Example:

    >>> wine = keras_vaf.datasets.load("wine")
    >>> [relu] = keras_vaf.experiments.find_arms("relu")
    >>> recipe = keras_vaf.experiments.Recipe(hidden=(4,))
    >>> keras_vaf.experiments.refit(wine, relu, recipe, 0.01, epochs=2).output_shape
    (None, 3)
    """
    check_kind("dataset", dataset, Dataset, OwnModel)
    check_kind("arm", arm, Arm)
    check_kind("recipe", recipe, Recipe)
    check_positive("learning_rate", learning_rate)
    check_integer("epochs", epochs)
    check_integer("seed", seed, minimum=0)
    own, place = experiment_of(dataset, recipe), recipe.folds  # no fold has this number
    network = own.network(arm, seed, place)
    if arm == UNCHANGED:
        return network
    [shuffling] = independent_seeds(seed, place, "shuffling")
    data, finish = own.whole()
    rows = np.arange(number_of_rows(data))
    # The loops evaluate at least one row, and the last epoch is kept.
    run = NetworkRun(network.get_weights(), rows, rows[:1], shuffling, learning_rate)
    trainer = Trainer(network, recipe.batch_size, mode="last")
    trainer.train_runs(data, [run], epochs)
    return finish(network)
