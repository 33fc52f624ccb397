"""Which rows a cell trains on, validates on and tests on, and its seeds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.protocol import Cell
from keras_vaf.training import k_folds, split


class Rows(NamedTuple):
    """Indices of the rows that one cell trains on, validates on and tests on."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def rows_of(cell: Cell, dataset: Dataset) -> Rows:
    """Return the rows of a cell: a test fold, and a split of all the others.

    Every arm of a comparison gets the same rows for the same seed and fold. All folds
    train on equally many rows, so that they are one program: where the rows cannot be
    divided by the number of folds, some folds leave out one row, drawn at random.

    Args:
        cell: The cell.
        dataset: Its data.

    Returns:
        Indices of training, validation and test rows.
    """
    protocol = cell.protocol
    stratify = protocol.task == "classification"
    usable = np.arange(len(dataset.y))
    if protocol.preprocessing.missing == "drop":
        usable = np.flatnonzero(~np.isnan(dataset.x).any(axis=1))
    y = dataset.y[usable]
    rest, test = k_folds(y, protocol.folds, cell.seed, stratify)[cell.fold]
    train, validation = split(
        y[rest],
        protocol.validation_fraction,
        seeds_of(cell, "split")[0],
        stratify,
        rows=len(y) - math.ceil(len(y) / protocol.folds),
    )
    return Rows(usable[rest[train]], usable[rest[validation]], usable[test])


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
