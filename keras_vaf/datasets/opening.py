"""Data by name or path: `open_dataset` returns a catalogue's dataset or a CSV table."""

import os
from collections.abc import Sequence

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.loading import load
from keras_vaf.datasets.own_csv import read_csv


def open_dataset(
    source: str,
    target: str | None = None,
    task: Task | None = None,
    categories: Sequence[str] = (),
    allow_missing: bool = False,
    data_dir: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a dataset of the paper, or read a CSV file.

    Args:
        source: Name of a dataset in the catalogue, or path of a CSV file.
        target: Column of the CSV file to predict. The catalogue's datasets need none.
        task: As in `read_csv`.
        categories: As in `read_csv`.
        allow_missing: Accept a CSV file with missing values, which `Preprocessing`
            then fills in or drops.
        data_dir: As in `load`.

    Raises:
        ValueError: If a CSV file comes without a target, has unexpected missing values,
            or is malformed, or the catalogue has no dataset of this name.
        FileNotFoundError: If the file does not exist.

    Example:

    >>> open_dataset("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    if target is not None:
        dataset = read_csv(source, target, task, categories)
        if not allow_missing:
            _check_complete(dataset)
        return dataset
    if source.lower().endswith(".csv"):
        raise ValueError(
            "A CSV file needs the name of the column to predict: `target`, on the "
            f"command line `--target COLUMN`. Received: {source!r}"
        )
    return load(source, data_dir)


def _check_complete(dataset: Dataset) -> None:
    counts = np.isnan(dataset.x).sum(axis=0)
    if counts.any():
        columns = zip(dataset.feature_names, counts, strict=True)
        listed = ", ".join(f"{name} ({count})" for name, count in columns if count)
        raise ValueError(
            "The table has missing values: choose `--missing mean` to fill them in, or "
            f"`--missing drop` to leave out their rows. Received: missing in {listed}"
        )
