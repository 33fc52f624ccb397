"""`rows_of`, the training, validation and test rows of a cell, and its seeds."""

from __future__ import annotations

import functools

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.preprocessing import Missing
from keras_vaf.datasets.scores import Rows
from keras_vaf.experiments.protocol import Cell
from keras_vaf.training import fold_rows, split
from keras_vaf.training.seeds import independent_seeds


def rows_of(cell: Cell, dataset: Dataset) -> Rows:
    """Return the rows of a cell: a test fold, and a split of all other rows.

    All protocols of a comparison get the same rows for the same seed and fold, from
    `keras_vaf.training.fold_rows`. With `test_rows`, the test rows are the last rows of
    the data. With `test_fraction`, the test rows are drawn independently for each fold.

    Args:
        cell: The cell.
        dataset: The data of the cell.

    Returns:
        Indices of training, validation and test rows.

    Raises:
        ValueError: If the data cannot be split in this way.
    """
    protocol = cell.protocol
    stratify = protocol.task == "classification"
    fraction = protocol.validation_fraction
    divided = dataset.groups is not None or dataset.times is not None
    if divided and (protocol.test_rows or protocol.test_fraction is not None):
        raise ValueError(
            "A table with `groups` or `time` is split into folds: leave out "
            "`test_rows` and `test_fraction`. "
            f"Received: test_rows={protocol.test_rows}, "
            f"test_fraction={protocol.test_fraction}"
        )
    if protocol.test_rows:
        rest, test = _standard_division(cell, dataset)
    elif protocol.test_fraction is not None:
        rest, test = _random_division(cell, dataset, protocol.test_fraction)
    else:
        missing = protocol.preprocessing.missing
        folds = _folds(
            dataset, missing, protocol.rows, protocol.folds, fraction, cell.seed
        )
        return folds[cell.fold]
    seed = seeds_of(cell, "split")[0]
    y = dataset.y[rest]
    train, validation = split(y, fraction, seed, stratify, rows=len(rest))
    return Rows(rest[train], rest[validation], test)


@functools.lru_cache(maxsize=3)  # one for each of the usual three seeds
def _folds(
    dataset: Dataset,
    missing: Missing,
    count: int | None,
    folds: int,
    validation_fraction: float,
    seed: int,
) -> tuple[Rows, ...]:
    """Return the rows of all folds, which the cells of all activations share."""
    usable = _sample(dataset, usable_rows(dataset, missing), count, seed)
    groups, times = dataset.groups, dataset.times
    parts = fold_rows(
        dataset.y[usable],
        folds,
        seed,
        dataset.task == "classification",
        validation_fraction,
        groups=None if groups is None else groups[usable],
        times=None if times is None else times[usable],
    )
    return tuple(Rows(*(usable[part] for part in fold)) for fold in parts)


def usable_rows(dataset: Dataset, missing: Missing) -> np.ndarray:
    """Return the rows that are used: all, or those without missing entries.

    Args:
        dataset: The data.
        missing: Treatment of missing inputs, as in `Preprocessing`.
    """
    if missing == "mean":
        return np.arange(len(dataset.y))
    axes = tuple(range(1, dataset.x.ndim))
    return np.flatnonzero(~np.isnan(dataset.x).any(axis=axes))


def _standard_division(cell: Cell, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the other rows and the publisher's test rows, an equal share of both."""
    protocol = cell.protocol
    usable = usable_rows(dataset, protocol.preprocessing.missing)
    first = len(dataset.y) - protocol.test_rows
    parts = usable[usable < first], usable[usable >= first]
    if protocol.folds != 1 or min(map(len, parts)) == 0:
        raise ValueError(
            f"`test_rows` must leave rows of {dataset.name} for training and for the "
            "test, and requires `folds=1`. "
            f"Received: test_rows={protocol.test_rows}, {len(dataset.y)} rows, "
            f"folds={protocol.folds}"
        )
    share = (protocol.rows or len(usable)) / len(usable)
    rest, test = (
        _sample(dataset, part, max(1, round(share * len(part))), cell.seed)
        for part in parts
    )
    return rest, test


def _random_division(
    cell: Cell, dataset: Dataset, fraction: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the other rows and the test rows, drawn independently for each fold."""
    protocol = cell.protocol
    rows = usable_rows(dataset, protocol.preprocessing.missing)
    usable = _sample(dataset, rows, protocol.rows, cell.seed)
    stratify = protocol.task == "classification"
    seed = seeds_of(cell, "test")[0]
    rest, test = split(dataset.y[usable], fraction, seed, stratify)
    return usable[rest], usable[test]


def _sample(
    dataset: Dataset, rows: np.ndarray, count: int | None, seed: int
) -> np.ndarray:
    """Return `count` of the rows, drawn at random, or all rows if there are fewer."""
    if count is None or count >= len(rows):
        return rows
    [drawn] = independent_seeds(seed, "rows")
    stratify = dataset.task == "classification"
    halves = split(dataset.y[rows], 0.5, drawn, stratify, rows=count)
    return rows[np.sort(np.concatenate(halves))]


def network_seeds(cell: Cell, start: int = 0) -> list[int]:
    """Return the seed of a network's kernels and a seed for each activation.

    Args:
        cell: The cell.
        start: Number of the start, for protocols with several starts.
    """
    purpose = f"network {start}" if start else "network"
    return seeds_of(cell, purpose, 1 + len(cell.protocol.hidden))


def seeds_of(cell: Cell, purpose: str, count: int = 1) -> list[int]:
    """Return seeds that depend on seed, fold and purpose, but not on the variant.

    Args:
        cell: The cell.
        purpose: Purpose of the seeds. Different purposes get different seeds.
        count: Number of seeds.
    """
    return independent_seeds(cell.seed, cell.fold, purpose, count=count)
