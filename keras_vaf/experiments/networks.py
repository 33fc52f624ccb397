"""`Networks`, which trains the networks of one activation, and `refit`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import keras
import numpy as np

from keras_vaf.datasets import Dataset, TableEncoder
from keras_vaf.datasets.scores import network_scores
from keras_vaf.datasets.tables.networks import with_encoder
from keras_vaf.experiments.arms import Arm
from keras_vaf.experiments.recipe import Fold, Recipe
from keras_vaf.training import NetworkRun, Trainer, train
from keras_vaf.training.data import loss_of, to_arrays
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import seed_random_layers
from keras_vaf.utils import check_kind

Wanted = Sequence[tuple[int, float]]
"""Number of the fold and learning rate of each training."""


def build_network(
    dataset: Dataset, arm: Arm, recipe: Recipe, inputs: int, seed: int, fold: int
) -> keras.Sequential:
    """Return the untrained, compiled network of an arm, with the weights of a fold."""
    count = 1 + len(recipe.hidden)
    kernels, *others = independent_seeds(seed, fold, "network", count=count)
    numbered = zip(itertools.count(1), others)

    def activation() -> keras.layers.Layer:
        place, own = next(numbered)
        return arm.build(own, name=f"activation_{place}")

    network = recipe.network(dataset, inputs, activation, kernels)
    loss = loss_of(dataset.task == "classification")
    network.compile(recipe.new_optimizer(), loss)
    return network


class Networks:
    """The networks of one activation, whose training is compiled only once."""

    def __init__(self, dataset: Dataset, arm: Arm, recipe: Recipe) -> None:
        self._dataset, self._recipe = dataset, recipe
        self._build = partial(build_network, dataset, arm, recipe)
        self._trainer: Trainer | None = None

    def train(self, folds: Sequence[Fold], wanted: Wanted) -> Iterator[dict[str, Any]]:
        """Yield the record of each wanted training, as soon as it has ended.

        On JAX, networks are trained together, and their trainings end together.
        """
        # Networks with equal learning rates stop after similar numbers of epochs.
        order, size = sorted(wanted, key=lambda each: each[1]), self._recipe.width
        for start in range(0, len(order), size):
            yield from self._batch(folds, order[start : start + size])

    def _batch(self, folds: Sequence[Fold], wanted: Wanted) -> Iterator[dict[str, Any]]:
        """Train at most as many networks as are trained together."""
        # Each batch has data of the same shape, so that it runs the same program.
        used = list(dict.fromkeys(number for number, _ in wanted))
        fitted, dataset = [folds[number].fitted for number in used], self._dataset
        fitted += fitted[:1] * (min(self._recipe.width, len(folds)) - len(used))
        x = np.concatenate([each.transform_inputs(dataset.x) for each in fitted])
        y = np.concatenate([each.transform_targets(dataset.y) for each in fitted])
        data = to_arrays("The preprocessed data", (x, y))
        if self._trainer is None:
            settings = self._recipe.batch_size, self._recipe.patience
            network = self._build(data[0].shape[1], 0, 0)
            self._trainer = Trainer(network, *settings, width=self._recipe.width)
        runs = []
        for number, rate in wanted:
            network = self._build(data[0].shape[1], folds[number].seed, number)
            [seed] = independent_seeds(folds[number].seed, number, "shuffling")
            first = used.index(number) * len(dataset.y)
            rows, held, _ = (part + first for part in folds[number].rows)
            runs.append(NetworkRun(network.get_weights(), rows, held, seed, rate))
        trained = self._trainer.train_runs(data, runs, self._recipe.epochs)
        for (number, rate), (history, weights) in zip(wanted, trained, strict=True):
            network.set_weights(weights)
            own = network, dataset, folds[number].fitted
            scores = [network_scores(*own, rows) for rows in folds[number].rows[1:]]
            metric = folds[number].metric
            yield {
                **folds[number].record(),
                "learning_rate": rate,
                "epochs": history.epochs,
                "best_epoch": history.best_epoch,
                "val_loss": history.best.get("val_loss"),
                "validation": scores[0][metric],
                "test": scores[1][metric],
                "parameters": network.count_params(),
                "seconds": round(history.seconds, 3),
            }


def refit(
    dataset: Dataset,
    arm: Arm,
    recipe: Recipe,
    learning_rate: float,
    epochs: int,
    seed: int = 0,
) -> keras.Model:
    """Train the network of an activation on all rows.

    Args:
        dataset: The data, a table.
        arm: The activation.
        recipe: The recipe.
        learning_rate: Learning rate, such as the one that most folds selected.
        epochs: Number of epochs, such as the median of the best epochs of the folds.
        seed: Seed of the initial weights and the shuffling.

    Returns:
        The trained network. Its inputs are rows from `TableEncoder.encode`, and its
        outputs are class probabilities, or the target in the units of the table.

    Raises:
        ValueError: If an argument is of another class.

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
    fitted = recipe.preprocessing(dataset).fit(dataset, slice(None))
    x, y = fitted.transform(dataset, slice(None))
    place = recipe.folds  # no fold has this number
    network = build_network(dataset, arm, recipe, x.shape[1], seed, place)
    network.optimizer.learning_rate = learning_rate
    [shuffling] = independent_seeds(seed, place, "shuffling")
    seed_random_layers(network, shuffling)
    train(network, x, y, None, epochs, recipe.batch_size, seed=shuffling)
    return with_encoder(network, TableEncoder.of(dataset, fitted), fitted)
