"""The trainings of one protocol: what happens between a seed and a report."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing
from keras_vaf.datasets.scores import Rows, baseline_scores, network_scores
from keras_vaf.experiments.runs.flops import count_flops
from keras_vaf.experiments.runs.networks import build_network, check_inputs
from keras_vaf.experiments.runs.rows import network_seeds, rows_of, seeds_of
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports.report import (
    Report,
    Trial,
    best_on_validation,
    environment,
)
from keras_vaf.layers import MLPConv
from keras_vaf.training import History
from keras_vaf.training.member import Replica
from keras_vaf.training.replicas import ReplicaTrainer, Trained, check_width

_CURVE_POINTS = 100
_IMAGES = 100  # whose pre-activations are looked at
_OTHERS = (keras.layers.Dense, keras.layers.Conv2D, MLPConv)
_QUANTILES = np.linspace(0, 1, 201)


class Part(NamedTuple):
    """A cell on its way: its rows, their preprocessing and the network at its start."""

    cell: Cell
    rows: Rows
    fitted: FittedPreprocessing
    model: keras.Sequential


class Arm:
    """Trains the cells of one protocol, and compiles its network only once.

    Args:
        protocol: What to train, and how.
        dataset: The data that the protocol names.
    """

    def __init__(self, protocol: Protocol, dataset: Dataset) -> None:
        self._protocol = protocol
        self._dataset = dataset
        self._trainer: ReplicaTrainer | None = None

    def check(self) -> None:
        """Fail now if the first training would: data, folds, widths, activation.

        Raises:
            ValueError: If the data do not suit the network or do not allow the folds,
                the network cannot be built, or the backend trains no networks together.
        """
        input_shape = self._dataset.x.shape[1:]
        check_inputs(self._protocol, input_shape)
        check_width(self._protocol.replicas)
        first = Cell(self._protocol, seed=0, fold=0)
        rows_of(first, self._dataset)
        self._network(input_shape, first, softmax=False)

    def run(self, cells: Sequence[Cell]) -> list[tuple[Report, keras.Model]]:
        """Train cells, as many together as the protocol's width allows.

        Args:
            cells: Cells of this arm's protocol.

        Returns:
            For each its report, and its network with the best epoch's weights; where
            several learning rates were tried, with the weights of the selected one.

        Raises:
            TooLittleMemory: If the protocol's width is too large for the memory.
        """
        done = []
        for start in range(0, len(cells), self._protocol.cells_at_once):
            batch = cells[start : start + self._protocol.cells_at_once]
            parts = [self._part(cell) for cell in batch]
            trained = iter(self._train(parts))
            for part in parts:
                own = list(itertools.islice(trained, self._protocol.trials))
                done.append((self._report(part, own), part.model))
        return done

    def _part(self, cell: Cell) -> Part:
        rows = rows_of(cell, self._dataset)
        fitted = self._protocol.preprocessing.fit(self._dataset, rows.train)
        x, _ = fitted.transform(self._dataset, rows.train[:1])
        return Part(cell, rows, fitted, self._network(x.shape[1:], cell, softmax=True))

    def _network(
        self, input_shape: Sequence[int], cell: Cell, softmax: bool, start: int = 0
    ) -> keras.Sequential:
        """Return a cell's network at a start; it is trained without the softmax."""
        classes = self._dataset.class_names
        return build_network(
            self._protocol,
            input_shape,
            outputs=len(classes) if classes else 1,
            seeds=network_seeds(cell, start),
            output_activation="softmax" if classes and softmax else None,
        )

    def _train(self, parts: list[Part]) -> list[Trained]:
        """Train every part at every learning rate, from the part's own starts."""
        if self._trainer is None:
            first = parts[0]
            shape = first.model.input_shape[1:]
            twin = self._network(shape, first.cell, softmax=False)
            twin.compile(self._protocol.optimizer.build(twin), self._loss())
            self._trainer = ReplicaTrainer(
                twin,
                self._protocol.batch_size,
                self._protocol.patience,
                width=self._protocol.replicas,
            )
        replicas = [
            replica for i, part in enumerate(parts) for replica in self._trials(i, part)
        ]
        # The data of a batch that is not full has the same shape: it is one program.
        copies = parts + parts[:1] * (self._protocol.cells_at_once - len(parts))
        data = [
            part.fitted.transform(self._dataset, rows)
            for part in copies
            for rows in (part.rows.train, part.rows.validation)
        ]
        x, y = (np.concatenate(arrays) for arrays in zip(*data, strict=True))
        return self._trainer.train(x, y, replicas, self._protocol.epochs)

    def _trials(self, place: int, part: Part) -> list[Replica]:
        """Return a part's trainings; its rows are those at this place of the data."""
        train, validation = len(part.rows.train), len(part.rows.validation)
        first = place * (train + validation)
        starts = [part.model.get_weights()]
        for start in range(1, self._protocol.starts):
            shape = part.model.input_shape[1:]
            network = self._network(shape, part.cell, softmax=False, start=start)
            starts.append(network.get_weights())
        return [
            Replica(
                starts[start],
                first + np.arange(train),
                first + train + np.arange(validation),
                seed=seeds_of(part.cell, "shuffling")[0],
                learning_rate=rate,
            )
            for start, rate in self._protocol.tries
        ]

    def _report(self, part: Part, trained: list[Trained]) -> Report:
        """Score all trials; leave the network with the weights of the selected one."""
        tries = zip(self._protocol.tries, trained, strict=True)
        trials = tuple(self._trial(part, *each, result) for each, result in tries)
        selected = best_on_validation(trials, self._protocol.metric)
        history, weights = trained[trials.index(selected)]
        part.model.set_weights(weights)
        most = None if self._dataset.x.ndim == 2 else _IMAGES
        x, _ = part.fitted.transform(self._dataset, part.rows.train[:most])
        return Report(
            protocol=self._protocol,
            seed=part.cell.seed,
            fold=part.cell.fold,
            rows={name: len(rows) for name, rows in part.rows._asdict().items()},
            trials=trials,
            baseline=baseline_scores(self._dataset, part.fitted, part.rows),
            parameters=part.model.count_params(),
            seconds=round(sum(each.history.seconds for each in trained), 3),
            curves=_thinned(history),
            activations=learned_activations(part.model, x),
            environment=environment(),
            flops=count_flops(part.model),
        )

    def _trial(
        self, part: Part, start: int, rate: float | None, trained: Trained
    ) -> Trial:
        history, weights = trained
        part.model.set_weights(weights)
        score = partial(network_scores, part.model, self._dataset, part.fitted)
        return Trial(
            rate=rate,
            scores=score(part.rows.test),
            validation={
                "loss": history.best.get("val_loss"),
                **score(part.rows.validation),
            },
            epochs=history.epochs,
            best_epoch=history.best_epoch,
            stopped=history.stopped,
            start=start,
        )

    def _loss(self) -> keras.losses.Loss:
        if self._protocol.task == "regression":
            return keras.losses.MeanSquaredError()
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def learned_activations(model: keras.Model, x: np.ndarray) -> list[dict[str, Any]]:
    """Return what the trainable activations of a network became, and what they see.

    Args:
        model: A network whose layers follow one another.
        x: Inputs of the network, such as the training rows.

    Returns:
        For each activation with weights its configuration, its weights by name and 201
        evenly spaced quantiles of its inputs.
    """
    activations = []
    for layer in model.layers:
        if layer.weights and not isinstance(layer, _OTHERS):
            values = keras.ops.convert_to_numpy(x)
            weights = zip(layer.weights, layer.get_weights(), strict=True)
            activations.append(
                {
                    "name": layer.name,
                    "config": json.loads(json.dumps(keras.layers.serialize(layer))),
                    "weights": {
                        weight.name: array.tolist() for weight, array in weights
                    },
                    "inputs": np.quantile(values, _QUANTILES).round(5).tolist(),
                }
            )
        x = layer(x)
    return activations


def _thinned(history: History) -> dict[str, list[float | None]]:
    """Return at most 100 points of the losses; what is not finite becomes `None`."""
    epochs = np.linspace(1, history.epochs, _CURVE_POINTS).round().astype(int)
    epochs = np.unique(epochs)
    columns = {
        name: history.metrics[metric][epochs - 1]
        for name, metric in (("loss", "loss"), ("validation_loss", "val_loss"))
    }
    points = {
        name: [float(value) if np.isfinite(value) else None for value in values]
        for name, values in columns.items()
    }
    return {"epoch": epochs.tolist(), **points}
