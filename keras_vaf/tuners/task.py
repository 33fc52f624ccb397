"""`SearchTask`, the data and training options of a search."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras

from keras_vaf.training import fold_rows
from keras_vaf.training.folds import FoldRows, Preprocess, preprocess_folds
from keras_vaf.training.trainer import refit
from keras_vaf.utils import checksum


class SearchTask(NamedTuple):
    """The arguments of `search`.

    Args:
        x: Inputs, as arrays.
        y: Targets, as arrays.
        epochs: Largest number of epochs in each fold.
        batch_size: As in `keras_vaf.training.train`.
        patience: As in `keras_vaf.training.train`.
        preprocess: As in `CrossValidated.search`.
        groups: As in `keras_vaf.training.fold_rows`.
        times: As in `keras_vaf.training.fold_rows`.
    """

    x: Any
    y: Any
    epochs: int
    batch_size: int | None
    patience: int | None
    preprocess: Preprocess | None
    groups: Any = None
    times: Any = None

    def protocol(self) -> dict[str, Any]:
        """Return all settings that determine the result, as JSON values."""
        return {
            "epochs": self.epochs,
            "batch_size": self.batch_size,
            "patience": self.patience,
            "data": checksum((self.x, self.y)),
        }

    def split(
        self, folds: int, seed: int, stratify: bool
    ) -> tuple[Any, list[FoldRows]]:
        """Return the data and the rows of each fold, validated on its test rows.

        Args:
            folds: Number of folds.
            seed: Seed of the folds.
            stratify: Whether each fold gets its share of each class.

        Returns:
            The preprocessed data, and the training, validation and test rows.
        """
        data = self.x, self.y
        targets = keras.tree.flatten(self.y)[0]
        rows = fold_rows(
            targets,
            folds,
            seed,
            stratify,
            validation_fraction=None,
            groups=self.groups,
            times=self.times,
        )
        if self.preprocess is None:
            return data, rows
        return preprocess_folds(data, rows, self.preprocess)

    def fit_all(self, model: keras.Model, epochs: int, seed: int) -> None:
        """Train a model on all rows, in the same loop as the trials.

        Args:
            model: A compiled model.
            epochs: Number of epochs.
            seed: Seed of the shuffling.
        """
        x = self.x if self.preprocess is None else self.preprocess(self.x)(self.x)
        refit(model, x, self.y, epochs, self.batch_size, seed)
