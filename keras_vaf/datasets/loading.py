"""`load`, which loads a dataset of the paper by name."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from keras_vaf.datasets import parsers
from keras_vaf.datasets.catalogue import Entry, Source, find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.fetching import read_files
from keras_vaf.datasets.tables.files import TABLES


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a dataset of the paper from the publisher's files.

    If a folder is given, the files are read from it, and nothing is downloaded.
    Otherwise the files are downloaded once and stored next to the data of Keras. `wine`
    is also part of scikit-learn, and `yacht` of this package. Every file is compared
    with its known checksum before it is decompressed or parsed.

    Args:
        name: Short name in the catalogue, such as `"wine"`.
        data_dir: Folder with the publishers' files, whose paths are in the file
            `catalogue.json` of `keras_vaf.datasets`. `None` means the folder in the
            environment variable `KERAS_VAF_DATA_DIR`, if it is set.

    Returns:
        The dataset, with the publisher's unscaled rows in their original order.

    Raises:
        ValueError: If the catalogue does not contain a dataset of this name, such as
            the path of a table, or if a file differs from the publisher's.
        FileNotFoundError: If a file is missing in the folder. The message names its
            address.
        OSError: If a file cannot be fetched or stored.

    Example:

    >>> load("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    if Path(str(name)).suffix.lower() in TABLES:
        raise ValueError(
            "A table needs the name of the column to predict: `target`, on the "
            f"command line `--target COLUMN`. Received: {name!r}"
        )
    entry = find(name)
    return decode(entry, *read_files(entry, data_dir))


def decode(entry: Entry, source: Source, contents: list[bytes]) -> Dataset:
    """Turn the bytes of a dataset's files, already checked, into arrays."""
    origin = "package sklearn"
    if source.files:
        more = f" and {len(source.files) - 1} more" if len(source.files) > 1 else ""
        note = f" ({source.note})" if source.note else ""
        origin = f"{source.files[0].path}{more}{note}"
    files = [
        parsers.decompress(content, file.path)
        for content, file in zip(contents, source.files, strict=True)
    ]
    data = getattr(parsers, f"read_{source.format}")(files, **source.options)
    columns, known = {}, entry.categories
    if entry.target:
        names, rows = data
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        y = _numbers(columns.pop(entry.target), entry.labels)
        for name in entry.left_out:
            del columns[name]
        inputs = [
            _numbers(cells, known.get(name, ()), entry.missing)
            for name, cells in columns.items()
        ]
        x = np.stack(inputs, axis=1)
    else:
        x, y = data
    return Dataset(
        name=entry.name,
        task=entry.task,
        x=x.astype(np.float32),
        y=y.astype(np.int64 if entry.labels else np.float32),
        feature_names=tuple(columns),
        class_names=(entry.class_names or entry.labels) or None,
        categories={n: known[name] for n, name in enumerate(columns) if name in known},
        source=origin,
    )


def _numbers(
    cells: Sequence[str], names: Sequence[str] = (), missing: Sequence[str] = ()
) -> np.ndarray:
    """Return cells as numbers, or as their places among the names of categories."""
    read = names.index if names else float
    return np.array([np.nan if cell in missing else read(cell) for cell in cells])
