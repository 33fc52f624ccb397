"""`fold_rows`, the rows of every fold, divided at random, by groups or by time."""

import math
from typing import Any

import numpy as np

from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.splits import k_folds, split
from keras_vaf.utils import check_integer, check_number

FoldRows = tuple[np.ndarray, np.ndarray, np.ndarray]


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

    All folds have as many training and validation rows as the smallest fold, so that
    JAX trains them as one program. Larger folds leave out rows, which are drawn at
    random or, with `times`, are the earliest ones.

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
        ValueError: If an argument is out of its range, if there are fewer rows of the
            largest class than folds, too few groups or different times, or if a part
            would be empty or lack a class.
        ImportError: If scikit-learn is not installed.

    Example:

    >>> training, validation, test = fold_rows([0, 1] * 10, folds=2)[0]
    >>> len(training), len(validation), len(test)
    (8, 2, 10)
    """
    check_integer("folds", folds, minimum=2)
    check_integer("seed", seed, minimum=0)
    if validation_fraction is not None:
        check_number("validation_fraction", validation_fraction, above=0, below=1)
    y = np.asarray(y)
    if groups is not None and times is not None:
        raise ValueError("Rows are divided by `groups` or by `times`. Received: both")
    if times is not None:
        times = _one_per_row("times", times, len(y))
        return _by_time(times, folds, validation_fraction)
    if groups is not None:
        groups = _one_per_row("groups", groups, len(y))
        divided = _by_groups(y, groups, folds, seed, stratify, validation_fraction)
        return _equally_many(divided, seed)
    parts = k_folds(y, folds, seed, stratify)
    if validation_fraction is None:
        return _equally_many([(rest, test, test) for rest, test in parts], seed)
    largest, rows = len(y) - math.ceil(len(y) / folds), []
    for fold, (rest, test) in enumerate(parts):
        [own] = independent_seeds(seed, fold, "split")
        found = split(y[rest], validation_fraction, own, stratify, largest)
        rows.append((rest[found[0]], rest[found[1]], test))
    return rows


def _one_per_row(name: str, values: Any, rows: int) -> np.ndarray:
    values = np.asarray(values)
    good = values.shape == (rows,) and rows > 0
    if good and name == "times":  # NaN and no date differ from themselves
        good = np.all(values == values) and not isinstance(values[0], str)
    good = good and not any(value is None for value in values.tolist())
    if not good:
        raise ValueError(
            f"`{name}` must have one entry per row of `y` and no `None`, and `times` "
            f"no missing one and no text. Received: {values.shape} for {rows} rows"
        )
    return values


def _equally_many(parts: list[FoldRows], seed: int) -> list[FoldRows]:
    """Draw as many training and validation rows of each fold as the smallest has.

    Test rows that are the validation rows, too, remain equal to them.
    """
    most, least = (min(len(part[place]) for part in parts) for place in (0, 1))
    rows = []
    for fold, (training, validation, test) in enumerate(parts):
        first, second = independent_seeds(seed, fold, "left out", count=2)
        kept = np.random.default_rng(first).permutation(training)[:most]
        held = np.sort(np.random.default_rng(second).permutation(validation)[:least])
        rows.append((np.sort(kept), held, held if test is validation else test))
    return rows


def _by_groups(
    y: np.ndarray,
    groups: np.ndarray,
    folds: int,
    seed: int,
    stratify: bool,
    validation_fraction: float | None,
) -> list[FoldRows]:
    """Return the rows of folds whose training, validation and test groups differ."""
    parts = []
    for fold, (rest, test) in enumerate(k_folds(y, folds, seed, stratify, groups)):
        if validation_fraction is None:
            parts.append((rest, test, test))
            continue
        left = len(np.unique(groups[rest]))
        if left < 2:
            raise ValueError(
                "Test, validation and training rows need different groups, and a fold "
                f"has test rows of all groups but {left}: use as many folds as groups. "
                f"Received: folds={folds}, {len(np.unique(groups))} groups"
            )
        [own] = independent_seeds(seed, fold, "split")
        inner = min(round(1 / validation_fraction), left)
        found = k_folds(y[rest], inner, own, stratify, groups[rest])
        parts.append((*(rest[part] for part in found[0]), test))
    return parts


def _by_time(
    times: np.ndarray, folds: int, validation_fraction: float | None
) -> list[FoldRows]:
    """Return the rows of folds whose test rows are later than their training rows."""
    order = np.argsort(times, kind="stable")
    ordered, half = times[order], len(order) // 2
    block, validation = (len(order) - half) // folds, 0
    if validation_fraction is not None:
        validation = math.ceil(validation_fraction * half)

    def first_equal(places: np.ndarray) -> np.ndarray:
        """Return the first places with the same times as some places."""
        return np.searchsorted(ordered, ordered[np.clip(places, 0, len(order) - 1)])

    starts = first_equal(len(order) - block * np.arange(folds, 0, -1))
    cuts = first_equal(starts - validation)  # the starts of the validation rows
    ends = np.append(starts[1:], len(order))
    training, tested = min(half - validation, *cuts), min(ends - starts)
    if training < 1 or tested < 1:
        raise ValueError(
            f"{folds} folds by time need at least {2 * folds} rows, and different "
            f"times in each fold: use fewer folds. Received: folds={folds}, "
            f"{len(order)} rows, {len(np.unique(ordered))} different times"
        )
    validation, rows = min(starts - cuts), list[FoldRows]()
    for cut, start, end in zip(cuts, starts, ends, strict=True):
        held, test = order[start - validation : start], order[start:end]
        if validation_fraction is None:
            held = test = test[:tested]
        rest = order[cut - training : cut]
        rows.append((np.sort(rest), np.sort(held), np.sort(test)))
    return rows
