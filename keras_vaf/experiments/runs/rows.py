"""`rows_of`, the training, validation and test rows of a cell, and its seeds."""

from __future__ import annotations

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.scores import Rows
from keras_vaf.experiments.protocol import Cell, Protocol
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
    groups, times = dataset.groups, dataset.times
    divided = groups is not None or times is not None
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
        usable = _sample(cell, dataset, usable_rows(protocol, dataset), protocol.rows)
        folds = fold_rows(
            dataset.y[usable],
            protocol.folds,
            cell.seed,
            stratify,
            fraction,
            groups=None if groups is None else groups[usable],
            times=None if times is None else times[usable],
        )
        return Rows(*(usable[part] for part in folds[cell.fold]))
    seed = seeds_of(cell, "split")[0]
    y = dataset.y[rest]
    train, validation = split(y, fraction, seed, stratify, rows=len(rest))
    return Rows(rest[train], rest[validation], test)


def usable_rows(protocol: Protocol, dataset: Dataset) -> np.ndarray:
    """Return the rows that a protocol uses: all, or those without missing entries.

    Args:
        protocol: The protocol.
        dataset: Its data.
    """
    if protocol.preprocessing.missing == "mean":
        return np.arange(len(dataset.y))
    axes = tuple(range(1, dataset.x.ndim))
    return np.flatnonzero(~np.isnan(dataset.x).any(axis=axes))


def _standard_division(cell: Cell, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the other rows and the publisher's test rows, an equal share of both."""
    protocol = cell.protocol
    usable = usable_rows(protocol, dataset)
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
        _sample(cell, dataset, part, max(1, round(share * len(part)))) for part in parts
    )
    return rest, test


def _random_division(
    cell: Cell, dataset: Dataset, fraction: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the other rows and the test rows, drawn independently for each fold."""
    protocol = cell.protocol
    usable = _sample(cell, dataset, usable_rows(protocol, dataset), protocol.rows)
    stratify = protocol.task == "classification"
    seed = seeds_of(cell, "test")[0]
    rest, test = split(dataset.y[usable], fraction, seed, stratify)
    return usable[rest], usable[test]


def _sample(
    cell: Cell, dataset: Dataset, rows: np.ndarray, count: int | None
) -> np.ndarray:
    """Return `count` of the rows, drawn at random, or all rows if there are fewer."""
    if count is None or count >= len(rows):
        return rows
    [seed] = independent_seeds(cell.seed, "rows")
    stratify = cell.protocol.task == "classification"
    halves = split(dataset.y[rows], 0.5, seed, stratify, rows=count)
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
