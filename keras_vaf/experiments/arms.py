"""The trainings of one protocol: what happens between a seed and a report."""

from __future__ import annotations

import itertools
import json
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.experiments.reports import Report, environment
from keras_vaf.models import mlp
from keras_vaf.training import History, Trainer, k_folds, split

_CURVE_POINTS = 100
_QUANTILES = np.linspace(0, 1, 201)


class Rows(NamedTuple):
    """Indices of the rows that one cell trains on, validates on and tests on."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


class Arm:
    """Trains the cells of one protocol, and compiles its network only once.

    Args:
        protocol: What to train, and how.
        dataset: The data that the protocol names.
    """

    def __init__(self, protocol: Protocol, dataset: Dataset) -> None:
        self._protocol = protocol
        self._dataset = dataset
        self._trainer: Trainer | None = None

    def check(self) -> None:
        """Fail now if the first training would: data, folds, widths, activation.

        Raises:
            ValueError: If the data are no table or do not allow the folds, or the
                network cannot be built.
        """
        if self._dataset.x.ndim != 2:
            raise ValueError(
                "A fully connected network takes a table, with one row of numbers per "
                f"sample. Received: inputs of shape {self._dataset.x.shape}"
            )
        first = Cell(self._protocol, seed=0, fold=0)
        rows_of(first, self._dataset)
        self._network(1, first, softmax=False)

    def run(self, cell: Cell) -> tuple[Report, keras.Model]:
        """Train one cell.

        Args:
            cell: A cell of this arm's protocol.

        Returns:
            Its report, and the network with the weights of the best epoch.
        """
        rows = rows_of(cell, self._dataset)
        fitted = self._protocol.preprocessing.fit(self._dataset, rows.train)
        data = [fitted.transform(self._dataset, part) for part in rows]
        model = self._network(data[0][0].shape[1], cell, softmax=True)
        history = self._train(model, data, cell)
        scores = self._score(model, fitted, rows.validation)
        report = Report(
            protocol=self._protocol,
            seed=cell.seed,
            fold=cell.fold,
            rows={name: len(part) for name, part in rows._asdict().items()},
            scores=self._score(model, fitted, rows.test),
            baseline=baseline_scores(self._dataset, rows),
            validation={"loss": history.best.get("val_loss"), **scores},
            epochs=history.epochs,
            best_epoch=history.best_epoch,
            stopped=history.stopped,
            parameters=model.count_params(),
            seconds=round(history.seconds, 3),
            curves=_thinned(history),
            activations=learned_activations(model, data[0][0]),
            environment=environment(),
        )
        return report, model

    def _network(self, inputs: int, cell: Cell, softmax: bool) -> keras.Sequential:
        """Return a cell's network at its start; it is trained without the softmax."""
        seeds = iter(_seeds(cell, "network", 1 + len(self._protocol.hidden)))
        places = itertools.count(1)
        classes = self._dataset.class_names
        return mlp(
            inputs,
            self._protocol.hidden,
            outputs=len(classes) if classes else 1,
            output_activation="softmax" if classes and softmax else None,
            seed=next(seeds),
            activation=lambda: self._protocol.variant.build(
                next(seeds), name=f"activation_{next(places)}"
            ),
        )

    def _train(self, model: keras.Model, data: list[Any], cell: Cell) -> History:
        """Train a twin that stays compiled, and hand its weights to the model."""
        train, validation, _ = data
        if self._trainer is None:
            twin = self._network(train[0].shape[1], cell, softmax=False)
            twin.compile(self._protocol.optimizer.build(), self._loss())
            self._trainer = Trainer(
                twin, self._protocol.batch_size, self._protocol.patience
            )
        self._trainer.restart(model.get_weights())
        history = self._trainer.train(
            train[0],
            train[1],
            validation,
            self._protocol.epochs,
            seed=_seeds(cell, "shuffling")[0],
        )
        model.set_weights(self._trainer.model.get_weights())
        return history

    def _loss(self) -> keras.losses.Loss:
        if self._protocol.task == "regression":
            return keras.losses.MeanSquaredError()
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def _score(
        self, model: keras.Model, fitted: FittedPreprocessing, rows: np.ndarray
    ) -> dict[str, float]:
        x = fitted.transform_inputs(self._dataset.x[rows])
        outputs = keras.ops.convert_to_numpy(model(x, training=False))
        y = self._dataset.y[rows]
        if self._protocol.task == "regression":
            return {"rmse": fitted.rmse(y, outputs)}
        return {"accuracy": float(np.mean(outputs.argmax(axis=1) == y))}


def rows_of(cell: Cell, dataset: Dataset) -> Rows:
    """Return the rows of a cell: a test fold, and a split of all the others.

    Every arm of a comparison gets the same rows for the same seed and fold.

    Args:
        cell: The cell.
        dataset: Its data.

    Returns:
        Indices of training, validation and test rows.
    """
    protocol = cell.protocol
    stratify = protocol.task == "classification"
    usable = np.arange(len(dataset.y))
    if protocol.preprocessing.missing == "drop":
        usable = np.flatnonzero(~np.isnan(dataset.x).any(axis=1))
    y = dataset.y[usable]
    rest, test = k_folds(y, protocol.folds, cell.seed, stratify)[cell.fold]
    train, validation = split(
        y[rest], protocol.validation_fraction, _seeds(cell, "split")[0], stratify
    )
    return Rows(usable[rest[train]], usable[rest[validation]], usable[test])


def learned_activations(model: keras.Model, x: np.ndarray) -> list[dict[str, Any]]:
    """Return what the trained activations of a network became, and what they see.

    Args:
        model: A network whose layers follow one another.
        x: Inputs of the network, such as the training rows.

    Returns:
        For each activation with weights its configuration, its weights by name and 201
        evenly spaced quantiles of its inputs.
    """
    activations = []
    for layer in model.layers:
        if layer.weights and not isinstance(layer, keras.layers.Dense):
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


def _seeds(cell: Cell, purpose: str, count: int = 1) -> list[int]:
    """Return seeds that depend on seed, fold and purpose, but not on the variant."""
    entropy = [cell.seed, cell.fold, *purpose.encode()]
    return np.random.SeedSequence(entropy).generate_state(count).tolist()


def baseline_scores(dataset: Dataset, rows: Rows) -> dict[str, float]:
    """Score the best constant of the training rows on the test rows."""
    train, test = dataset.y[rows.train], dataset.y[rows.test]
    if dataset.task == "classification":
        return {"accuracy": float(np.mean(test == np.bincount(train).argmax()))}
    errors = test.astype(np.float64) - train.astype(np.float64).mean()
    return {"rmse": float(np.sqrt(np.mean(errors**2)))}


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
