"""`load` and `open_dataset`, which load datasets of the paper by name."""

import os
from pathlib import Path

from keras_vaf.datasets.catalogue import find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.encoding import decode
from keras_vaf.datasets.fetching import read_files
from keras_vaf.datasets.tables.sources import TABLES


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a dataset of the paper from the publisher's files.

    If a folder is given, the files are read from it, and nothing is downloaded.
    Otherwise the files are downloaded once and stored next to the data of Keras. `wine`
    is also part of scikit-learn. Every file is compared with its known checksum before
    it is decompressed or parsed.

    Args:
        name: Short name in the catalogue, such as `"wine"`.
        data_dir: Folder with the publishers' files, arranged as `keras-vaf data layout`
            shows. `None` means the folder in the environment variable
            `KERAS_VAF_DATA_DIR`, if it is set.

    Returns:
        The dataset, with the publisher's unscaled rows in their original order.

    Raises:
        ValueError: If the catalogue does not contain a dataset of this name, or if a
            file differs from the publisher's.
        FileNotFoundError: If a file is missing in the folder. The message names its
            address.
        OSError: If a file cannot be fetched or stored.

    Example:

    >>> load("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    entry = find(name)
    return decode(entry, *read_files(entry, data_dir))


def open_dataset(
    source: str, data_dir: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load a dataset of the paper, for a command without a target.

    Args:
        source: Name of a dataset in the catalogue.
        data_dir: As in `load`.

    Raises:
        ValueError: If the source is the path of a table, or if the catalogue does not
            contain a dataset of this name.

    Example:

    >>> open_dataset("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    if Path(source).suffix.lower() in TABLES:
        raise ValueError(
            "A table needs the name of the column to predict: `target`, on the "
            f"command line `--target COLUMN`. Received: {source!r}"
        )
    return load(source, data_dir)
