"""`TrialTraining`, which trains the hyperparameters of a trial on every fold."""

from __future__ import annotations

import io
import json
import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np

from keras_vaf.training import History, TrainingRun, train_many
from keras_vaf.training.data import take
from keras_vaf.training.folds import FoldRows
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.tuners.results import fold_metrics

if TYPE_CHECKING:
    from keras_tuner import HyperModel, HyperParameters


class TrainedFold(NamedTuple):
    """Best epoch of one fold: metrics, number and weights."""

    best: dict[str, float]
    epoch: int
    weights: list[np.ndarray]


class TrainedTrial(NamedTuple):
    """Result of `TrialTraining.train`.

    Attributes:
        metrics: Means of all metrics over the folds, and the metrics of each fold.
        folds: The best epochs of the folds, from which another trial can continue.
    """

    metrics: dict[str, float]
    folds: bytes


class TrialTraining(NamedTuple):
    """The data and options that all trials of a search share.

    Args:
        hypermodel: Function or object that builds the models.
        data: Inputs and targets.
        rows: Training, validation and test rows of each fold.
        epochs: Largest number of epochs in each fold.
        batch_size: As in `keras_vaf.training.train`.
        patience: As in `keras_vaf.training.train`.
        objective: Name of the metric that selects epochs.
        direction: `"min"` or `"max"`.
        seed: Seed of initial weights and shuffling.
    """

    hypermodel: HyperModel
    data: Any
    rows: list[FoldRows]
    epochs: int
    batch_size: int | None
    patience: int | None
    objective: str
    direction: str
    seed: int

    def train(
        self,
        hyperparameters: HyperParameters,
        epochs: int,
        attempt: int = 0,
        earlier: bytes | None = None,
    ) -> TrainedTrial:
        """Train a model on every fold.

        Args:
            hyperparameters: The hyperparameters of the trial.
            epochs: Largest number of epochs.
            attempt: Number of earlier attempts with these hyperparameters.
            earlier: The folds of the trial that this trial continues.

        Raises:
            FloatingPointError: If a fold has no finite epoch.
        """
        started = time.perf_counter()
        keras.utils.clear_session()
        models = [
            self.build(hyperparameters, fold, attempt) for fold in range(len(self.rows))
        ]
        before = folds_from_bytes(earlier) if earlier else []
        for model, fold in zip(models, before, strict=bool(before)):
            self._set_weights(model, fold.weights)
        histories = self._histories(models, epochs)
        trained = [
            TrainedFold(history.best, history.best_epoch, model.get_weights())
            for model, history in zip(models, histories, strict=True)
        ]
        if before:
            trained = list(map(self._better, before, trained))
        self._check_finite(trained)
        best = [fold.best for fold in trained]
        means = {n: math.fsum(b[n] for b in best) / len(best) for n in best[0]}
        metrics = means | fold_metrics(
            scores=[values[self.objective] for values in best],
            epochs=[fold.epoch for fold in trained],
            seconds=time.perf_counter() - started,
        )
        return TrainedTrial(metrics, folds_to_bytes(trained))

    def build(self, hp: HyperParameters, fold: int, attempt: int) -> keras.Model:
        """Return a new model, whose start depends only on seed, fold and attempt."""
        [seed] = independent_seeds(self.seed, fold, attempt)
        keras.utils.set_random_seed(seed)
        return self.hypermodel.build(hp)

    def _histories(self, models: list[keras.Model], epochs: int) -> list[History]:
        runs = [
            TrainingRun(
                model,
                training,
                validation,
                independent_seeds(self.seed, fold, "shuffling")[0],
                build="one trial",
            )
            for fold, (model, (training, validation, _)) in enumerate(
                zip(models, self.rows, strict=True)
            )
        ]
        x, y = self.data
        return train_many(
            runs,
            x,
            y,
            epochs=epochs,
            batch_size=self.batch_size,
            patience=self.patience,
            monitor=self.objective,
            mode=self.direction,
        )

    def _set_weights(self, model: keras.Model, weights: list[np.ndarray]) -> None:
        if not model.built:
            model(take(self.data[0], slice(1)))
        model.set_weights(weights)

    def _better(self, before: TrainedFold, after: TrainedFold) -> TrainedFold:
        """Return the better of a fold's best epochs before and after continuing."""
        if after.epoch == 0:
            return before
        sign = 1 if self.direction == "min" else -1
        if sign * after.best[self.objective] >= sign * before.best[self.objective]:
            return before
        return after._replace(epoch=before.epoch + after.epoch)

    def _check_finite(self, trained: list[TrainedFold]) -> None:
        bad = [str(place) for place, fold in enumerate(trained) if fold.epoch == 0]
        if bad:
            raise FloatingPointError(
                f"{self.objective} was not finite in any epoch of fold {', '.join(bad)}"
            )


def folds_to_bytes(folds: list[TrainedFold]) -> bytes:
    """Return the content of an `.npz` file of folds."""
    arrays = {
        # NumPy files do not support bfloat16.
        f"{place}/{index}": array.astype("float32")
        if array.dtype.kind == "V"
        else array
        for place, fold in enumerate(folds)
        for index, array in enumerate(fold.weights)
    }
    about = json.dumps([(fold.best, fold.epoch, len(fold.weights)) for fold in folds])
    file = io.BytesIO()
    contents: dict[str, Any] = {"about": np.array(about), **arrays}
    np.savez(file, **contents)
    return file.getvalue()


def folds_from_bytes(content: bytes) -> list[TrainedFold]:
    """Return the folds of an `.npz` file."""
    with np.load(io.BytesIO(content)) as arrays:
        return [
            TrainedFold(
                best, epoch, [arrays[f"{place}/{index}"] for index in range(count)]
            )
            for place, (best, epoch, count) in enumerate(
                json.loads(str(arrays["about"]))
            )
        ]
