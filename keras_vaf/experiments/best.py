"""`choose`, which selects one activation of a comparison, and `refit`."""

from __future__ import annotations

import math
import statistics
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import keras

from keras_vaf.datasets import Dataset, TableEncoder
from keras_vaf.datasets.tables.networks import with_encoder
from keras_vaf.experiments.protocol import Cell
from keras_vaf.experiments.reports.report import Report, error
from keras_vaf.experiments.results.differences import corrected_p
from keras_vaf.experiments.results.result import results_of
from keras_vaf.experiments.results.selection import Selected
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.experiments.runs.networks import build_network, compile_network
from keras_vaf.experiments.runs.rows import network_seeds, seeds_of
from keras_vaf.models.files import load_model
from keras_vaf.training import trainer
from keras_vaf.training.network_trainer import seed_random_layers
from keras_vaf.utils import atomic_path, check_kind, set_aside


@dataclass(frozen=True)
class Arm(Selected):
    """One activation of a comparison, with its validation scores."""

    @property
    def title(self) -> str:
        """Name of the activation in tables."""
        return self.protocol.variant.title

    @cached_property
    def score(self) -> float:
        """Mean validation score, in the metric of the table."""
        metric = self.protocol.metric
        scores = [trial.validation[metric] for trial in self.trials]
        finite = [trial.validation["loss"] for trial in self.trials]
        if None in scores or None in finite:
            return math.nan
        return statistics.fmean(score for score in scores if score is not None)

    @property
    def error(self) -> float:
        """The score as an error, or infinity if a training had no finite epoch."""
        if math.isnan(self.score):
            return math.inf
        return error(self.protocol.metric, self.score)

    @property
    def parameters(self) -> int:
        """Number of trained parameters."""
        return self.reports[0].parameters

    @property
    def epochs(self) -> int:
        """Median of the best epochs of the folds."""
        return max(1, round(statistics.median(each.best_epoch for each in self.trials)))

    @property
    def learning_rate(self) -> float | None:
        """The most frequent learning rate of the folds; `None` for the default."""
        [(rate, _)] = Counter(each.rate for each in self.trials).most_common(1)
        return rate


def choose(reports: Sequence[Report]) -> Arm:
    """Return the activation to use.

    If activations are significantly better than the first one, the best of them on the
    validation rows is chosen. Otherwise, the cheapest is chosen: the one with the
    fewest parameters, and among these the fewest operations, that is not significantly
    worse. The test scores decide about significance alone.

    Args:
        reports: The reports of a comparison.
    """
    results = results_of(reports)
    arms = [Arm.of(result.selected.reports) for result in results]
    tested = list(zip(arms, results, corrected_p(results), strict=True))
    found = [each for each in tested if each[2] is not None and each[2] < LEVEL]
    better = [arm for arm, result, _ in found if result.direction == "better"]
    better = [arm for arm in better if arm.error < math.inf]
    if better:
        return min(better, key=lambda arm: arm.error)
    worse = [arm for arm, result, _ in found if result.direction == "worse"]
    finite = [arm for arm in arms if arm.error < math.inf] or arms
    rest = [arm for arm in finite if arm not in worse] or finite
    return min(rest, key=lambda arm: (arm.parameters, arm.reports[0].flops))


def refit(arm: Arm, dataset: Dataset) -> keras.Model:
    """Train the network of an activation on all rows.

    The number of epochs is the median of the best epochs of its folds. The network
    is trained with the learning rate that most folds selected, in the same loop as the
    networks that were compared.

    Args:
        arm: The activation.
        dataset: The data.

    Returns:
        The trained network. For a table, its inputs are rows from
        `TableEncoder.encode`, and its outputs are class probabilities, or the target in
        the units of the table.

    Raises:
        ValueError: If an argument is of another class.
    """
    check_kind("arm", arm, Arm)
    check_kind("dataset", dataset, Dataset)
    protocol = arm.protocol
    fitted = protocol.preprocessing.fit(dataset, slice(None))
    x, y = fitted.transform(dataset, slice(None))
    outputs = len(dataset.class_names or "1")
    cell = Cell(
        protocol, arm.reports[0].seed, protocol.folds
    )  # no fold has this number
    network = build_network(protocol, x.shape[1:], outputs, network_seeds(cell))
    compile_network(network, protocol, arm.learning_rate)
    [seed] = seeds_of(cell, "shuffling")
    seed_random_layers(network, seed)
    trainer.refit(network, x, y, arm.epochs, protocol.batch_size, seed)
    if dataset.x.ndim == 2:
        return with_encoder(network, TableEncoder.of(dataset, fitted), fitted)
    probabilities = keras.layers.Softmax()
    return keras.Sequential([keras.Input(x.shape[1:]), *network.layers, probabilities])


def write_network(arm: Arm, dataset: Dataset, path: Path) -> None:
    """Train the network of an activation on all rows, unless its file exists.

    Args:
        arm: The activation.
        dataset: The data.
        path: Path of the `.keras` file.
    """
    if not _loads(path):
        network = refit(arm, dataset)
        with atomic_path(path) as temporary:
            network.save(temporary)


def _loads(path: Path) -> bool:
    """Return whether a file contains a network. Any other file is renamed."""
    if not path.is_file():
        return False
    try:
        load_model(path)
    except ValueError:
        moved = set_aside(path)
        warnings.warn(
            f"Keras could not load {path}, which is now {moved.name}. The network is "
            "trained again.",
            stacklevel=2,
        )
        return False
    return True
