"""The rows of each fold, and inputs that are preprocessed by its training rows."""

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from keras_vaf.training.data import number_of_rows, take, to_arrays
from keras_vaf.training.splits import k_folds, split

Preprocess = Callable[[Any], Callable[[Any], Any]]
Parts = list[tuple[np.ndarray, np.ndarray, np.ndarray]]


def fold_parts(
    y: Any, folds: int, validation_fraction: float, stratify: bool, seed: int
) -> Parts:
    """Return the training, validation and test rows of each fold."""
    targets = keras.tree.flatten(y)[0]
    parts = []
    for fold, (rest, test) in enumerate(k_folds(targets, folds, seed, stratify)):
        # Folds of equal size are one program.
        rows = len(targets) - math.ceil(len(targets) / folds)
        training, validation = split(
            targets[rest], validation_fraction, seed + fold, stratify, rows
        )
        parts.append((rest[training], rest[validation], test))
    return parts


def preprocess_folds(
    data: Any, parts: Parts, preprocess: Preprocess
) -> tuple[Any, Parts]:
    """Preprocess the inputs for each fold, and put the copies one below the other.

    Args:
        data: Inputs and targets.
        parts: Training, validation and test rows of each fold.
        preprocess: As in `cross_validate`.

    Returns:
        Inputs and targets, as many times as there are folds, and the rows among them.
    """
    x, y = data
    copies, shifted = [], []
    for fold, rows in enumerate(parts):
        copies.append((preprocess(take(x, rows[0]))(x), y))
        training, validation, test = (part + fold * number_of_rows(y) for part in rows)
        shifted.append((training, validation, test))
    data = keras.tree.map_structure(lambda *arrays: np.concatenate(arrays), *copies)
    return to_arrays("The preprocessed data", data), shifted
