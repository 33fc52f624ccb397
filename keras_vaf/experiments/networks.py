"""`train_networks` and `fit_references`, which train one activation, and `refit`."""

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import keras
import numpy as np

from keras_vaf import optimizers
from keras_vaf.datasets import Dataset, TableEncoder
from keras_vaf.datasets.scores import network_score, score
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.experiments.arms import Arm
from keras_vaf.experiments.recipe import Fold, Recipe, Wanted
from keras_vaf.training import NetworkRun, Trainer, train
from keras_vaf.training.data import loss_of, to_arrays
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import seed_random_layers
from keras_vaf.utils import check_integer, check_kind, check_positive, class_of, require

_MOST_CATEGORIES = 255  # of a column, for scikit-learn's trees
_FEW_ROWS = 10_000  # of fewer rows, threads wait for each other


def build_network(
    dataset: Dataset, arm: Arm, recipe: Recipe, inputs: int, seed: int, fold: int
) -> keras.Sequential:
    """Return the untrained, compiled network of an arm, with the weights of a fold."""
    count = 1 + len(recipe.hidden)
    kernels, *others = independent_seeds(seed, fold, "network", count=count)
    activations = (
        arm.build(own, name=f"activation_{place}")
        for place, own in enumerate(others, start=1)
    )
    network = recipe.network(dataset, inputs, lambda: next(activations), kernels)
    kind = class_of("optimizer", recipe.optimizer, optimizers, keras.optimizers)
    loss = loss_of(dataset.task == "classification")
    network.compile(kind(**recipe.optimizer_arguments), loss)
    return network


@lru_cache(maxsize=16)  # they hold compiled programs, and no data
def trainer_of(dataset: Dataset, arm: Arm, recipe: Recipe, inputs: int) -> Trainer:
    """Return the trainer of all networks of an activation, which compiles once."""
    network = build_network(dataset, arm, recipe, inputs, 0, 0)
    return Trainer(network, recipe.batch_size, recipe.patience, width=recipe.width)


def train_networks(
    folds: Sequence[Fold], arm: Arm, recipe: Recipe, wanted: Wanted
) -> Iterator[dict[str, Any]]:
    """Yield the record of each wanted training; on JAX, several end together."""
    dataset, seed = folds[0].dataset, folds[0].seed
    inputs = folds[0].fitted.transform_inputs(dataset.x[:1]).shape[1]
    trainer = trainer_of(dataset, arm, recipe, inputs)
    starts = {
        fold: build_network(dataset, arm, recipe, inputs, seed, fold).get_weights()
        for fold in {number for number, _ in wanted}
    }
    # Networks with equal learning rates stop after similar numbers of epochs.
    order, size = sorted(wanted, key=lambda each: each[1]), recipe.width
    runs = [(folds[number], rate, starts[number]) for number, rate in order]
    for place in range(0, len(runs), size):
        yield from _train_together(trainer, recipe, runs[place : place + size])


def _train_together(
    trainer: Trainer, recipe: Recipe, wanted: Sequence[tuple[Fold, float, Any]]
) -> Iterator[dict[str, Any]]:
    """Train at most `recipe.width` networks: fold, learning rate, initial weights."""
    # Each batch has data of the same shape, so that it runs the same program.
    used = {fold.number: fold.fitted for fold, *_ in wanted}
    numbers, fitted, dataset = list(used), list(used.values()), wanted[0][0].dataset
    fitted += fitted[:1] * (min(recipe.width, recipe.folds) - len(used))
    x = np.concatenate([each.transform_inputs(dataset.x) for each in fitted])
    y = np.concatenate([each.transform_targets(dataset.y) for each in fitted])
    data, runs = to_arrays("The preprocessed data", (x, y)), []
    for fold, rate, start in wanted:
        first = numbers.index(fold.number) * len(dataset.y)
        [seed] = independent_seeds(fold.seed, fold.number, "shuffling")
        rows, held, _ = (part + first for part in fold.rows)
        runs.append(NetworkRun(start, rows, held, seed, rate))
    trained, network = trainer.train_runs(data, runs, recipe.epochs), trainer.model
    for (fold, rate, _), (history, weights) in zip(wanted, trained, strict=True):
        network.set_weights(weights)
        own = network, dataset, fold.fitted
        scores = [network_score(*own, rows) for rows in fold.rows[1:]]
        yield {
            **fold.record(),
            "learning_rate": rate,
            "epochs": history.epochs,
            "best_epoch": history.best_epoch,
            "val_loss": history.best.get("val_loss"),
            "validation": scores[0],
            "test": scores[1],
            "parameters": network.count_params(),
            "seconds": round(history.seconds, 3),
        }


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
    dataset: Dataset,
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
    check_kind("dataset", dataset, Dataset)
    check_kind("arm", arm, Arm)
    check_kind("recipe", recipe, Recipe)
    check_positive("learning_rate", learning_rate)
    check_integer("seed", seed, minimum=0)
    rows = recipe.usable_rows(dataset)
    fitted = recipe.fitted(dataset, rows)
    x, y = fitted.transform(dataset, rows)
    place = recipe.folds  # no fold has this number
    network = build_network(dataset, arm, recipe, x.shape[1], seed, place)
    network.optimizer.learning_rate = learning_rate
    [shuffling] = independent_seeds(seed, place, "shuffling")
    seed_random_layers(network, shuffling)
    train(network, x, y, None, epochs, recipe.batch_size, seed=shuffling)
    return with_encoder(network, TableEncoder.of(dataset, fitted), fitted)
