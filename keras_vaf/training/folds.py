"""`fold_rows`, which returns the rows of every fold, and `preprocess_folds`."""

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from keras_vaf.training.data import number_of_rows, take, to_arrays
from keras_vaf.training.divisions import (
    FoldRows,
    draw,
    group_fold_rows,
    time_fold_rows,
)
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.splits import k_folds, split

Preprocess = Callable[[Any], Callable[[Any], Any]]


def fold_rows(
    y: Any,
    folds: int = 10,
    seed: int = 0,
    stratify: bool = True,
    validation_fraction: float | None = 0.2,
    groups: Any = None,
    times: Any = None,
) -> list[FoldRows]:
    """Return the training, validation and test rows of every fold.

    Each fold is the test set once. A part of the other rows is reserved for validation.
    Every combination of seed and fold has an independent random stream, so that no two
    folds split their rows in the same way.

    All folds have the same number of training rows and the same number of validation
    rows, so that JAX trains them as one program. If the number of rows is not a
    multiple of the number of folds, some folds leave out a row, which is drawn at
    random.

    Args:
        y: Targets, one per row. Stratified folds need one class label per row.
        folds: Number of folds, at least 2.
        seed: Seed of folds and splits.
        stratify: Whether every part gets its share of each class. Use `False` for
            regression.
        validation_fraction: Share of the rows outside of the test fold used for
            validation. With `None`, the test rows are the validation rows.
        groups: One label per row. Rows with equal labels stay together: training,
            validation and test rows do not share a label.
        times: One number per row, such as a date. The test rows of a fold are later
            than its training rows. Rows with equal times stay in the same part. The
            later half of the rows is split into the test blocks. The network for a
            block is trained on the rows just before it, which are half of all rows. The
            last of these rows are the validation rows.

    Returns:
        The training, validation and test rows of each fold, in increasing order.

    Raises:
        ValueError: As in `k_folds` and `split`.
        ImportError: If scikit-learn is not installed.

    Example:

    >>> training, validation, test = fold_rows([0, 1] * 10, folds=2)[0]
    >>> len(training), len(validation), len(test)
    (8, 2, 10)
    """
    y = np.asarray(y)
    if times is not None:
        return time_fold_rows(times, folds, validation_fraction)
    if groups is not None:
        return group_fold_rows(y, groups, folds, seed, stratify, validation_fraction)
    parts = k_folds(y, folds, seed, stratify)
    largest = len(y) - math.ceil(len(y) / folds)
    rows = []
    for fold, (rest, test) in enumerate(parts):
        if validation_fraction is None:
            seeds = independent_seeds(seed, fold, "left out", count=2)
            rest = draw(rest, largest, seeds[0])
            test = draw(test, len(y) // folds, seeds[1])
            rows.append((rest, test, test))
            continue
        training, validation = split(
            y[rest],
            validation_fraction,
            independent_seeds(seed, fold, "split")[0],
            stratify,
            largest,
        )
        rows.append((rest[training], rest[validation], test))
    return rows


def preprocess_folds(
    data: Any, folds: list[FoldRows], preprocess: Preprocess
) -> tuple[Any, list[FoldRows]]:
    """Preprocess the inputs for each fold and concatenate the results.

    Args:
        data: Inputs and targets.
        folds: Training, validation and test rows of each fold.
        preprocess: Function that takes the training inputs of a fold and returns a
            function, which is applied to all inputs of this fold.

    Returns:
        Inputs and targets, repeated once per fold, and the rows of each fold in them.
    """
    x, y = data
    copies, shifted = [], []
    for fold, rows in enumerate(folds):
        copies.append((preprocess(take(x, rows[0]))(x), y))
        training, validation, test = (part + fold * number_of_rows(y) for part in rows)
        shifted.append((training, validation, test))
    data = keras.tree.map_structure(lambda *arrays: np.concatenate(arrays), *copies)
    return to_arrays("The preprocessed data", data), shifted
