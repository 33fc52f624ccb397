"""What the trials of a search are trained on, and how."""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.training import k_folds
from keras_vaf.training.data import number_of_rows
from keras_vaf.training.folds import Parts, Preprocess, preprocess_folds
from keras_vaf.utils import checksum


class Task(NamedTuple):
    """What `search` was given: all but the hyper-parameters.

    Args:
        x: Inputs, as arrays.
        y: Targets, likewise.
        epochs: Number of epochs at most, in each fold.
        batch_size: As in `keras_vaf.training.train`.
        patience: As in `keras_vaf.training.train`.
        preprocess: As in `keras_vaf.training.cross_validate`.
    """

    x: Any
    y: Any
    epochs: int
    batch_size: int | None
    patience: int | None
    preprocess: Preprocess | None

    def protocol(self) -> dict[str, Any]:
        """Return what decides the outcome, as JSON can hold it."""
        return {
            "epochs": self.epochs,
            "batch_size": self.batch_size,
            "patience": self.patience,
            "data": checksum((self.x, self.y)),
        }

    def split(self, folds: int, seed: int, stratify: bool) -> tuple[Any, Parts]:
        """Return data and rows of the folds; only training rows fit a preprocessing.

        Folds of equal size are one program on JAX: where the rows cannot be divided,
        some leave out a row, drawn at random.

        Args:
            folds: Number of folds.
            seed: Seed of the folds.
            stratify: Whether folds have their share of each class.

        Returns:
            The data, and training, validation and test rows of each fold: the last two
            are the same.
        """
        targets = keras.tree.flatten(self.y)[0]
        pairs = k_folds(targets, folds, seed, stratify)
        sizes = [min(map(len, part)) for part in zip(*pairs, strict=True)]
        generator = np.random.default_rng(seed)
        parts = []
        for pair in pairs:
            rest, held = (
                np.sort(generator.permutation(rows)[:size])
                for rows, size in zip(pair, sizes, strict=True)
            )
            parts.append((rest, held, held))
        data = self.x, self.y
        if self.preprocess is None:
            return data, parts
        return preprocess_folds(data, parts, self.preprocess)

    def fit_all(self, model: keras.Model, epochs: int) -> None:
        """Train a model on all rows.

        Args:
            model: A compiled model.
            epochs: Number of epochs.
        """
        x = self.x if self.preprocess is None else self.preprocess(self.x)(self.x)
        size = self.batch_size or number_of_rows(self.y)
        model.fit(x, self.y, batch_size=size, epochs=epochs, verbose=0)
