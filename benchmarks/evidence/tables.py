"""`TableStudy`, the trainings on tables: new regressions, classifications and kinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from benchmarks.evidence.records import Records
from benchmarks.evidence.regressions import REFERENCES
from keras_vaf.datasets import Dataset, Preprocessing
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import fold_rows
from keras_vaf.training.network_trainer import NetworkTrainer
from keras_vaf.training.runs import NetworkRun, TrainedNetwork
from keras_vaf.training.seeds import independent_seeds

SEED = 45
FOLDS = 10
HIDDEN = (100, 50)
BATCH = 64
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
BELOW, ABOVE = 0.0001, 0.1
MOST_AT_AN_EDGE = 2

Activation = Callable[[], keras.layers.Layer]


def fixed(name: str) -> Activation:
    """Return a function that makes layers of a fixed activation."""
    return lambda: keras.layers.Activation(name)


def vaf(g: str, start: str, trained: bool = True) -> Activation:
    """Return a function that makes VAFs with k = 3."""
    return lambda: VAFActivation(k=3, g=g, initialization=start, trainable=trained)


ARMS: dict[str, Activation] = {
    **{name: fixed(name) for name in ("relu", "gelu", "silu", "tanh")},
    "prelu": keras.layers.PReLU,
    "vaf-relu": vaf("relu", "relu"),
    "vaf-silu": vaf("silu", "silu"),
    "vaf-gelu": vaf("gelu", "gelu"),
    "gelu-hinges": vaf("relu", "gelu"),
    "gelu-hinges-fixed": vaf("relu", "gelu", trained=False),
}
"""All activations: fixed, PReLU, VAFs, and copies of GELU from three hinges."""


def epochs(rows: int) -> int:
    """Return the number of epochs for a dataset with so many rows."""
    return 300 if rows < 3_000 else 100


class DecayingAdam(keras.optimizers.Adam):
    """Adam with a learning rate that falls linearly to zero.

    Args:
        steps: Number of steps after which the learning rate is zero.
        **arguments: As for Adam.
    """

    def __init__(self, steps: int = 1, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.steps = steps

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update a variable with the learning rate of this step."""
        done = keras.ops.cast(self.iterations, "float32") / self.steps
        super().update_step(
            gradient, variable, learning_rate * keras.ops.maximum(0.0, 1.0 - done)
        )


@dataclass(frozen=True)
class TableStudy:
    """Datasets, arms and learning rates of a study.

    Attributes:
        datasets: Names of the datasets.
        load: Function that returns a dataset by its name.
        arms: Keys of `ARMS`.
        rates: Learning rates of every arm.
        extend: Whether to add a learning rate if an arm selects the largest or the
            smallest one in more than two folds.
        references: Whether to fit the references that are not networks.
    """

    datasets: Sequence[str]
    load: Callable[[str], Dataset]
    arms: Sequence[str]
    rates: Sequence[float] = RATES
    extend: bool = True
    references: bool = False

    def run(self, records: Records) -> None:
        """Train everything that has no record.

        Args:
            records: The finished trainings.
        """
        for name in self.datasets:
            data = FoldData(self.load(name))
            for reference in REFERENCES if self.references else ():
                if records.read(name, reference) is None:
                    fitted = [REFERENCES[reference](*fold) for fold in data.scaled()]
                    record = {"dataset": name, "arm": reference, "folds": fitted}
                    records.write(record, name, reference)
            self._train(records, name, data, self.rates)
            self._train(records, name, data, self.further_rates(records, name))

    def _train(
        self, records: Records, name: str, data: FoldData, rates: Sequence[float]
    ) -> None:
        for arm in self.arms:
            missing = [rate for rate in rates if not records.read(name, arm, rate)]
            for rate, folds in data.train(ARMS[arm], missing):
                record = {"dataset": name, "arm": arm, "rate": rate, "folds": folds}
                records.write(record, name, arm, rate)
                print(name, arm, rate, flush=True)

    def further_rates(self, records: Records, name: str) -> list[float]:
        """Return the learning rates that the rule of the page adds for a dataset.

        Args:
            records: The finished trainings.
            name: Name of the dataset.
        """
        if not self.extend:
            return []
        most = Counter[float]()
        for arm in self.arms:
            found = {rate: records.read(name, arm, rate) for rate in self.rates}
            chosen = Counter[float]()
            for fold in range(FOLDS):
                losses = {
                    rate: record["folds"][fold]["validation"]
                    for rate, record in found.items()
                    if record is not None
                }
                chosen[min(losses, key=lambda rate: losses[rate])] += 1
            most |= chosen
        edges = {min(self.rates): BELOW, max(self.rates): ABOVE}
        return [new for rate, new in edges.items() if most[rate] > MOST_AT_AN_EDGE]

    def trainings(self) -> int:
        """Return the number of records without additional learning rates."""
        networks = len(self.arms) * len(self.rates)
        return len(self.datasets) * (networks + len(REFERENCES) * self.references)


class FoldData:
    """The rows of a dataset, prepared for each fold.

    Args:
        dataset: The dataset.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.classes = len(dataset.class_names or ()) or None
        targets = "none" if self.classes else "min-max"
        preprocessing = Preprocessing(targets=targets)  # type: ignore[arg-type]
        self.folds = fold_rows(dataset.y, FOLDS, SEED, stratify=bool(self.classes))
        everything = np.arange(len(dataset.x))
        self.parts = []
        for training, _, _ in self.folds:
            fitted = preprocessing.fit(dataset, training)
            self.parts.append(fitted.transform(dataset, everything))
        self.epochs = epochs(len(dataset.x))
        self.x = np.concatenate([x for x, _ in self.parts])
        self.y = np.concatenate([y for _, y in self.parts])
        if not self.classes:
            self.y = self.y[:, None]

    def scaled(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yield inputs and targets of the training and test rows of each fold."""
        for (x, y), (training, _, test) in zip(self.parts, self.folds, strict=True):
            yield x[training], y[training], x[test], y[test]

    def train(
        self, activation: Activation, rates: Sequence[float]
    ) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        """Train one network per fold with each learning rate.

        Args:
            activation: Function that makes an activation layer.
            rates: The learning rates.

        Yields:
            A learning rate and the results of its folds.
        """
        if not rates:
            return
        models = [self._network(activation, fold) for fold in range(FOLDS)]
        trainer = NetworkTrainer(models[0], batch_size=BATCH, width=1)
        trainer.prepare((self.x, self.y))
        weights = [model.get_weights() for model in models]
        for rate in rates:
            runs = []
            for fold, rows in enumerate(self.folds):
                shift = fold * len(self.parts[0][0])
                start = trainer.start(weights[fold], fold, rate)
                training, validation, _ = (part + shift for part in rows)
                runs.append(NetworkRun(start, training, validation, fold))
            trained = trainer.train((self.x, self.y), runs, self.epochs)
            yield rate, [self._result(models[0], *each) for each in enumerate(trained)]

    def _network(self, activation: Activation, fold: int) -> keras.Model:
        outputs, last = (self.classes, "softmax") if self.classes else (1, None)
        [seed] = independent_seeds(SEED, fold, "kernels")
        model = mlp(self.x.shape[1], HIDDEN, outputs, activation, last, seed)
        steps = -(-len(self.folds[0][0]) // BATCH) * self.epochs
        loss = "sparse_categorical_crossentropy" if self.classes else "mse"
        model.compile(DecayingAdam(steps), loss)
        return model

    def _result(
        self, model: keras.Model, fold: int, trained: TrainedNetwork
    ) -> dict[str, Any]:
        model.set_weights(trained.weights)
        (x, y), (training, _, test) = self.parts[fold], self.folds[fold]
        history = trained.history
        return {
            "validation": history.best.get("val_loss", float("inf")),
            "test": self._error(_outputs(model, x[test]), y[test]),
            "training": self._error(_outputs(model, x[training]), y[training]),
            "epoch": history.best_epoch,
            "stopped": history.stopped,
        }

    def _error(self, outputs: np.ndarray, y: np.ndarray) -> float:
        """Return the RMSE, or the smoothed share of wrong rows."""
        if self.classes:
            wrong = int((outputs.argmax(1) != y).sum())
            return (wrong + 0.5) / (len(y) + 1)
        return float(np.sqrt(np.mean((outputs[:, 0] - y) ** 2)))


def _outputs(model: keras.Model, x: np.ndarray) -> np.ndarray:
    outputs: np.ndarray = keras.ops.convert_to_numpy(model(x))
    return outputs
