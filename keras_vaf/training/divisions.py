"""`group_fold_rows` and `time_fold_rows`, folds by groups of rows or by time."""

import math
from typing import Any

import numpy as np

from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import check_integer, require

FoldRows = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(rows: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return some rows, drawn at random, in increasing order."""
    return np.sort(np.random.default_rng(seed).permutation(rows)[:count])


def group_fold_rows(
    y: np.ndarray,
    groups: Any,
    folds: int,
    seed: int,
    stratify: bool,
    validation_fraction: float | None,
) -> list[FoldRows]:
    """Return the rows of folds whose training, validation and test groups are disjoint.

    The arguments are those of `fold_rows`. All folds have as many training and
    validation rows as the smallest fold. Larger folds leave out rows, which are drawn
    at random.
    """
    check_integer("folds", folds, minimum=2)
    groups = np.asarray(groups)
    labels = y if stratify else np.zeros(len(y), np.int64)
    parts = []
    for fold, (rest, test) in enumerate(_by_groups(labels, groups, folds, seed)):
        training, validation = rest, test
        if validation_fraction is not None:
            [word] = independent_seeds(seed, fold, "split")
            left = len(np.unique(groups[rest]))
            if left < 2:
                raise ValueError(
                    "Test, validation and training rows need different groups, and a "
                    f"fold has test rows of all groups but {left}: use as many folds "
                    f"as groups. Received: folds={folds}, {len(np.unique(groups))} "
                    "groups"
                )
            inner = min(round(1 / validation_fraction), left)
            found = _by_groups(labels[rest], groups[rest], inner, word)
            training, validation = (rest[part] for part in found[0])
        parts.append((training, validation, test))
    sizes = [min(len(part[place]) for part in parts) for place in range(2)]
    rows = []
    for fold, (training, validation, test) in enumerate(parts):
        words = independent_seeds(seed, fold, "left out", count=2)
        training = draw(training, sizes[0], words[0])
        validation = draw(validation, sizes[1], words[1])
        rows.append((training, validation, test if validation_fraction else validation))
    return rows


def time_fold_rows(
    times: Any, folds: int, validation_fraction: float | None
) -> list[FoldRows]:
    """Return the rows of folds whose test rows are later than their training rows.

    The later half of the rows is split into test blocks. The network for a block is
    trained on the rows just before it, which are half of all rows; the last of them are
    the validation rows. Rows with equal times stay in the same part. All folds have as
    many training and validation rows as the smallest fold. Larger folds leave out their
    earliest rows.

    Args:
        times: One number per row, which orders the rows.
        folds: Number of folds, at least 2.
        validation_fraction: Share of the earlier rows used for validation. With `None`,
            the test rows are the validation rows.

    Raises:
        ValueError: If there are too few rows, or too few different times.

    Example:

    >>> time_fold_rows([3, 1, 2, 4, 5, 6, 7, 8], 2, 0.25)[0]
    (array([0, 1, 2]), array([3]), array([4, 5]))
    """
    check_integer("folds", folds, minimum=2)
    order = np.argsort(np.asarray(times), kind="stable")
    ordered = np.asarray(times)[order]
    half = len(order) // 2
    validation = math.ceil((validation_fraction or 0.0) * half)
    bounds = _time_bounds(ordered, folds, validation)
    training = min(half - validation, *(cut for cut, _, _ in bounds))
    tested = [end - start for _, start, end in bounds]
    if training < 1 or min(tested) < 1:
        raise ValueError(
            f"{folds} folds by time need at least {2 * folds} rows, and different "
            "times in each fold: use fewer folds. "
            f"Received: folds={folds}, {len(order)} rows, {len(np.unique(ordered))} "
            "different times"
        )
    validation = min(start - cut for cut, start, _ in bounds)
    rows = []
    for cut, start, end in bounds:
        rest = np.sort(order[cut - training : cut])
        if validation_fraction is None:
            test = np.sort(order[start : start + min(tested)])
            rows.append((rest, test, test))
        else:
            held = np.sort(order[start - validation : start])
            rows.append((rest, held, np.sort(order[start:end])))
    return rows


def _time_bounds(
    ordered: np.ndarray, folds: int, validation: int
) -> list[tuple[int, int, int]]:
    """Return the starts of each fold's validation and test rows, and their end."""
    block = (len(ordered) - len(ordered) // 2) // folds
    starts = [
        _before_equal(ordered, len(ordered) - left * block)
        for left in range(folds, 0, -1)
    ]
    cuts = [_before_equal(ordered, max(start - validation, 0)) for start in starts]
    return list(zip(cuts, starts, [*starts[1:], len(ordered)], strict=True))


def _before_equal(ordered: np.ndarray, place: int) -> int:
    """Return the first index with the same time as a given index of ordered times."""
    return int(np.searchsorted(ordered, ordered[min(place, len(ordered) - 1)]))


def _by_groups(
    labels: np.ndarray, groups: np.ndarray, folds: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    count = len(np.unique(groups))
    if count < folds or folds < 2:
        raise ValueError(
            f"{max(folds, 2)} folds need at least as many groups, and further groups "
            "for validation: use fewer folds. "
            f"Received: {count} groups"
        )
    selection = require("sklearn.model_selection", extra="experiments")
    splitter = selection.StratifiedGroupKFold(folds, shuffle=True, random_state=seed)
    parts = list(
        splitter.split(labels, np.unique(labels, return_inverse=True)[1], groups)
    )
    if not all(len(rest) and len(test) for rest, test in parts):
        raise ValueError(
            "Each fold needs training rows from other groups: use fewer folds, or "
            f"smaller groups. Received: folds={folds}, {count} groups"
        )
    return parts
