"""`k_folds` and `split`, seeded splits of rows that can be stratified by class."""

import warnings
from typing import Any

import numpy as np

from keras_vaf.utils import check_integer, check_number, require


def k_folds(
    y: Any, folds: int, seed: int = 0, stratify: bool = True, groups: Any = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the other rows and the test rows of each of K folds (see `fold_rows`).

    A class with fewer rows than folds has at most one row per test set.
    """
    y = class_labels(y) if stratify else np.zeros(len(y), int)
    rows = "rows in the largest class" if stratify else "rows"
    sizes, advice = {rows: np.bincount(y).max(initial=0)}, "use fewer folds"
    kind = "StratifiedKFold" if stratify else "KFold"
    if groups is not None:
        sizes["groups"], kind = len(np.unique(groups)), "StratifiedGroupKFold"
        advice += ", larger groups, or a `validation_fraction` of at most 0.5"
    selection = require("sklearn.model_selection", extra="experiments")
    parts = []
    if 2 <= folds <= min(sizes.values()):
        splitter = getattr(selection, kind)(folds, shuffle=True, random_state=seed)
        # The docstring explains classes with fewer rows than folds.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            parts = list(splitter.split(y, y, groups))
    if not parts or not all(len(rest) and len(test) for rest, test in parts):
        received = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(
            f"{folds} folds need at least {folds} {' and '.join(sizes)}: {advice}. "
            f"Received: folds={folds}, {received}"
        )
    return parts


def split(
    y: Any,
    fraction: float = 0.2,
    seed: int = 0,
    stratify: bool = True,
    rows: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows into a training and a validation part.

    Args:
        y: Targets, one per row; a stratified split needs one class label per row.
        fraction: Share of the rows used for validation, between 0 and 1.
        seed: Seed of the shuffling.
        stratify: Whether both parts get their share of each class, to within one row.
            The row of a class with only one row is used for training. Use `False` for
            regression.
        rows: Number of rows to use, so that the splits of several folds have equal
            sizes. The other rows, drawn at random, are left out. `None` uses all rows.

    Returns:
        The training rows and the validation rows, in increasing order.

    Raises:
        ValueError: If the targets are not class labels, if there are fewer than `rows`
            rows, or if a part would be empty or have fewer rows than there are classes.
        ImportError: If scikit-learn is not installed.

    Example:

    >>> [len(part) for part in split([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])]
    [8, 2]
    """
    check_number("fraction", fraction, above=0, below=1)
    check_integer("seed", seed, minimum=0)
    if rows is not None:
        check_integer("rows", rows)
    y = class_labels(y) if stratify else np.asarray(y)
    alone = np.bincount(y)[y] == 1 if stratify else np.zeros(len(y), bool)
    shared = int(np.sum(~alone))
    classes = max(1, len(np.unique(y[~alone]))) if stratify else 1
    left_out = 0 if rows is None else len(y) - rows
    validation = int(np.ceil(fraction * (shared if rows is None else rows)))
    training = shared - validation - left_out
    if left_out < 0 or min(validation, training) < classes:
        raise ValueError(
            "Training and validation rows must both contain each class, or at least "
            "one row if not stratified: use more rows, fewer folds, another "
            "`fraction`, or `--task regression` if the classes are numbers. "
            f"Received: fraction={fraction}, {len(y)} rows, {classes} "
            "classes"
        )
    selection = require("sklearn.model_selection", extra="experiments")
    parts = selection.train_test_split(
        np.flatnonzero(~alone),
        train_size=training,
        test_size=validation,
        random_state=seed,
        stratify=y[~alone] if stratify else None,
    )
    return np.sort(np.concatenate([np.flatnonzero(alone), parts[0]])), np.sort(parts[1])


def class_labels(y: Any) -> np.ndarray:
    """Return class labels as numbers, counted from 0."""
    y = np.asarray(y)
    if y.ndim != 1 or (y.dtype.kind == "f" and not np.all(y == np.round(y))):
        raise ValueError(
            "A stratified split needs one class label per row; use `stratify=False` "
            f"for regression. Received: targets of shape {y.shape} and dtype {y.dtype}"
        )
    return np.unique(y, return_inverse=True)[1]
