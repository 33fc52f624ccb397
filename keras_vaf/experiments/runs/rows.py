"""Which rows a cell trains on, validates on and tests on, and its seeds."""

from __future__ import annotations

import math

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.scores import Rows
from keras_vaf.experiments.protocol import Cell, Protocol
from keras_vaf.training import k_folds, split


def rows_of(cell: Cell, dataset: Dataset) -> Rows:
    """Return the rows of a cell: a test fold, and a split of all the others.

    Every arm of a comparison gets the same rows for the same seed and fold. All folds
    train on equally many rows, so that they are one program: where the rows cannot be
    divided by the number of folds, some folds leave out one row, drawn at random. With
    `test_rows`, the last rows of the data take the place of the test fold; with
    `test_fraction`, rows that are drawn for this fold alone.

    Args:
        cell: The cell.
        dataset: Its data.

    Returns:
        Indices of training, validation and test rows.

    Raises:
        ValueError: If the data do not allow the folds or the split.
    """
    protocol = cell.protocol
    stratify = protocol.task == "classification"
    if protocol.test_rows:
        rest, test = _standard_division(cell, dataset)
        used = len(rest)
    elif protocol.test_fraction is not None:
        rest, test = _random_division(cell, dataset, protocol.test_fraction)
        used = len(rest)
    else:
        usable = _sample(cell, dataset, _usable(protocol, dataset), protocol.rows)
        y = dataset.y[usable]
        rest, test = k_folds(y, protocol.folds, cell.seed, stratify)[cell.fold]
        rest, test = usable[rest], usable[test]
        used = len(y) - math.ceil(len(y) / protocol.folds)
    train, validation = split(
        dataset.y[rest],
        protocol.validation_fraction,
        seeds_of(cell, "split")[0],
        stratify,
        rows=used,
    )
    return Rows(rest[train], rest[validation], test)


def _usable(protocol: Protocol, dataset: Dataset) -> np.ndarray:
    """Return all rows, or those without missing entries."""
    if protocol.preprocessing.missing == "mean":
        return np.arange(len(dataset.y))
    axes = tuple(range(1, dataset.x.ndim))
    return np.flatnonzero(~np.isnan(dataset.x).any(axis=axes))


def _standard_division(cell: Cell, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the rest and the publisher's test rows; of both the same share is used."""
    protocol = cell.protocol
    usable = _usable(protocol, dataset)
    first = len(dataset.y) - protocol.test_rows
    parts = usable[usable < first], usable[usable >= first]
    if protocol.folds != 1 or min(map(len, parts)) == 0:
        raise ValueError(
            f"`test_rows` must leave rows of {dataset.name} to train on and to test "
            f"on, and goes with `folds=1`. Received: test_rows={protocol.test_rows}, "
            f"{len(dataset.y)} rows, folds={protocol.folds}"
        )
    share = (protocol.rows or len(usable)) / len(usable)
    rest, test = (
        _sample(cell, dataset, part, max(1, round(share * len(part)))) for part in parts
    )
    return rest, test


def _random_division(
    cell: Cell, dataset: Dataset, fraction: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rest and the test rows, drawn anew for every fold."""
    protocol = cell.protocol
    usable = _sample(cell, dataset, _usable(protocol, dataset), protocol.rows)
    stratify = protocol.task == "classification"
    seed = seeds_of(cell, "test")[0]
    rest, test = split(dataset.y[usable], fraction, seed, stratify)
    return usable[rest], usable[test]


def _sample(
    cell: Cell, dataset: Dataset, rows: np.ndarray, count: int | None
) -> np.ndarray:
    """Draw so many of some rows; all of them, if there are no more."""
    if count is None or count >= len(rows):
        return rows
    seed = int(np.random.SeedSequence([cell.seed, *b"rows"]).generate_state(1)[0])
    stratify = cell.protocol.task == "classification"
    halves = split(dataset.y[rows], 0.5, seed, stratify, rows=count)
    return rows[np.sort(np.concatenate(halves))]


def network_seeds(cell: Cell, start: int = 0) -> list[int]:
    """Return the seeds of a network: of its kernels, and of each activation.

    Args:
        cell: The cell.
        start: Which of its starts.
    """
    purpose = f"network {start}" if start else "network"
    return seeds_of(cell, purpose, 1 + len(cell.protocol.hidden))


def seeds_of(cell: Cell, purpose: str, count: int = 1) -> list[int]:
    """Return seeds that depend on seed, fold and purpose, but not on the variant.

    Args:
        cell: The cell.
        purpose: What they are for; other purposes get other seeds.
        count: How many.

    Returns:
        The seeds.
    """
    entropy = [cell.seed, cell.fold, *purpose.encode()]
    return np.random.SeedSequence(entropy).generate_state(count).tolist()
