"""`CrossValidatedTuner`, a tuner of KerasTuner with K-fold cross-validation."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf.training.data import to_arrays
from keras_vaf.training.folds import Preprocess, fold_rows, preprocess_folds
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import refit
from keras_vaf.tuners.recorded.same_search import check_same_search, is_same_search
from keras_vaf.tuners.recorded.tuner import RecordedTuner
from keras_vaf.tuners.results import EPOCHS
from keras_vaf.tuners.trial_training import TrialTraining
from keras_vaf.utils import checksum, write_atomically

if TYPE_CHECKING:
    from keras_tuner import HyperParameters
    from keras_tuner.engine.trial import Trial


class CrossValidatedTuner(RecordedTuner):
    """The mixin that `CrossValidated` adds to a tuner.

    Args:
        *args: Arguments of the tuner.
        folds: Number of folds.
        stratify: Whether each fold gets its share of each class; `False` for
            regression.
        **kwargs: Arguments of the tuner, including `objective`, a metric on validation
            rows, and `seed`, which also determines the folds.
    """

    def __init__(
        self, *args: Any, folds: int = 5, stratify: bool = True, **kwargs: Any
    ) -> None:
        self._folds = folds
        self._stratify = stratify
        self._fold_seed = kwargs.get("seed") or 0
        self._training: Any = None
        self._all_rows: Any = None
        self._attempts: Counter[str] = Counter()
        super().__init__(*args, **kwargs)
        # Hyperband trains each trial for a part of its `max_epochs`.
        self._epoch_parts = getattr(self.oracle, "max_epochs", 1)
        name = getattr(self.oracle.objective, "name", "")
        if not name.startswith("val_"):
            raise ValueError(
                "`objective` must be one metric on validation rows, such as 'val_loss' "
                f"or 'val_accuracy'. Received: objective={name!r}"
            )

    def search(
        self,
        x: Any,
        y: Any,
        epochs: int,
        batch_size: int | None = None,
        patience: int | None = None,
        preprocess: Preprocess | None = None,
        groups: Any = None,
        times: Any = None,
    ) -> None:
        """Run trials until the search is complete; resume an interrupted search.

        Args:
            x: Inputs: an array, or a list or dictionary of arrays of equal length.
                Leave out rows that are reserved for a test.
            y: Targets, in the same forms.
            epochs: Largest number of epochs in each fold. With Hyperband, a trial gets
                the same share of `epochs` as it would get of Hyperband's `max_epochs`.
            batch_size: As in `keras_vaf.training.train`.
            patience: As in `keras_vaf.training.train`.
            preprocess: Function that takes the training inputs of a fold and returns a
                function, which is applied to all inputs of this fold. `None` leaves the
                inputs unchanged.
            groups: As in `keras_vaf.training.fold_rows`.
            times: As in `keras_vaf.training.fold_rows`.

        Raises:
            ValueError: If the folder contains another search, or if the data cannot be
                split into the folds.
            RuntimeError: If too many consecutive trials failed.
        """
        x, y = to_arrays("`(x, y)`", (x, y))
        rows = fold_rows(
            keras.tree.flatten(y)[0],
            self._folds,
            self._fold_seed,
            self._stratify,
            validation_fraction=None,
            groups=groups,
            times=times,
        )
        data: Any = (x, y)
        if preprocess is not None:
            data, rows = preprocess_folds(data, rows, preprocess)
        settings: dict[str, Any] = {
            "epochs": epochs,
            "batch_size": batch_size,
            "patience": patience,
        }
        objective = self.oracle.objective
        self._training = TrialTraining(
            self.hypermodel,
            data,
            rows,
            **settings,
            objective=objective.name,
            direction=objective.direction,
            seed=self._fold_seed,
        )
        self._all_rows = x, y, preprocess
        settings["data"] = checksum((x, y))
        check_same_search(self.folder, self._protocol() | settings)
        self.run_trials()

    def check_space(self, space: HyperParameters) -> None:
        """Raise a `ValueError` if the hypermodel does not use any hyperparameters."""
        self._space = space.get_config()["space"]
        if not self._space:
            raise ValueError(
                "The hypermodel must use hyperparameters, for example through "
                "`keras_vaf.tuners.activation(hp)`. "
                "Received: a hypermodel without hyperparameters"
            )

    def run_trial(self, trial: Trial) -> dict[str, float]:
        """Train a model on every fold.

        Args:
            trial: The trial.

        Returns:
            The means of all metrics over the folds, and the metrics of each fold.

        Raises:
            FloatingPointError: If a fold had no finite epoch. KerasTuner then retries
                the trial up to `max_retries_per_trial` times.
        """
        attempt = self._attempts[trial.trial_id]
        self._attempts[trial.trial_id] += 1
        hyperparameters = trial.hyperparameters
        epochs, earlier = self._epochs(hyperparameters.values)
        trained = self._training.train(hyperparameters, epochs, attempt, earlier)
        if self._epoch_parts > 1:
            write_atomically(self._folds_file(trial.trial_id), trained.folds)
        return trained.metrics

    def refit_best(self) -> keras.Model:
        """Train a model with the best hyperparameters on all rows.

        The number of epochs is the median of the best epochs of its folds.

        Returns:
            The trained model, compiled by the hypermodel. If `search` was called with
            `preprocess`, the model takes inputs that are preprocessed with statistics
            of all rows.

        Raises:
            ValueError: If no trial was completed, or if `search` was not called.
                `search` provides the data; it returns at once if the search is
                complete.
        """
        best = self.oracle.get_best_trials()
        return self.load_model(best[0] if best else None)

    def load_model(self, trial: Trial | None) -> keras.Model:
        """Train a model with the hyperparameters of a trial (see `refit_best`)."""
        if trial is None or trial.status != "COMPLETED":
            raise ValueError(
                "A completed trial is needed to train its model on all rows. "
                f"Received: {'none' if trial is None else trial.status}"
            )
        if self._training is None:
            raise ValueError(
                "Call `search` with the data first. It returns at once if the search "
                "is complete. Received: no data"
            )
        model = self._training.build(trial.hyperparameters, self._folds, attempt=0)
        epochs = int(trial.metrics.get_last_value(EPOCHS))
        [seed] = independent_seeds(self._fold_seed, self._folds, "shuffling")
        x, y, preprocess = self._all_rows
        x = x if preprocess is None else preprocess(x)(x)
        refit(model, x, y, epochs, self._training.batch_size, seed)
        return model

    def _epochs(self, values: dict[str, Any]) -> tuple[int, bytes | None]:
        """Return the number of epochs of a trial, and the folds that it continues."""

        def epochs(parts: int) -> int:
            return math.ceil(self._training.epochs * parts / self._epoch_parts)

        most = epochs(values.get("tuner/epochs", self._epoch_parts))
        before = epochs(values.get("tuner/initial_epoch", 0))
        if before in (0, most):
            return most, None
        file = self._folds_file(values["tuner/trial_id"])
        return (most - before, file.read_bytes()) if file.is_file() else (most, None)

    def _folds_file(self, trial_id: str) -> Path:
        return self.folder / f"trial_{trial_id}" / "folds.npz"

    def is_same_search(self) -> bool:
        """Return whether the records of the folder belong to this search."""
        return is_same_search(self.folder, self._protocol())

    def _protocol(self) -> dict[str, Any]:
        """Return the settings of the tuner, as JSON values."""
        return {
            "tuner": type(self).__name__,
            "objective": self.oracle.objective.name,
            "direction": self.oracle.objective.direction,
            "folds": self._folds,
            "stratify": self._stratify,
            "seed": self._fold_seed,
            "space": self._space,
        }
