"""`load` and `open_dataset`, which load datasets by name or path."""

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np

from keras_vaf.datasets.catalogue import Entry, Source, find
from keras_vaf.datasets.checksums import read_checked
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.encoding import encode_table
from keras_vaf.datasets.fetching import cache_folder, data_folder, fetch_unless_there
from keras_vaf.datasets.parsers import decompress
from keras_vaf.datasets.tables.reading import read_table
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
    source: str,
    target: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Dataset:
    """Load a dataset of the paper, or read a user's own table.

    Args:
        source: Name of a dataset in the catalogue, or path of a table.
        target: Name of the column to predict. Datasets of the catalogue do not need it.
        data_dir: As in `load`.
        **options: Other arguments of `read_table`.

    Raises:
        ValueError: If `target` is missing for a table, if the table cannot be used, or
            if the catalogue does not contain a dataset of this name.
        FileNotFoundError: If the file does not exist.

    Example:

    >>> open_dataset("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    if target is not None:
        return read_table(source, target, **options)
    if Path(source).suffix.lower() in TABLES:
        raise ValueError(
            "A table needs the name of the column to predict: `target`, on the "
            f"command line `--target COLUMN`. Received: {source!r}"
        )
    return load(source, data_dir)


def read_files(
    entry: Entry, data_dir: str | os.PathLike[str] | None = None
) -> tuple[Source, list[bytes]]:
    """Return the checked files of a dataset; download them if no folder is given.

    Args:
        entry: The catalogue entry of the dataset.
        data_dir: Folder with the publishers' files, as for `load`.

    Returns:
        The form in which the dataset is available, and the bytes of each of its files.

    Raises:
        ValueError: If a file is not the publisher's.
        OSError: If a file is missing, or cannot be fetched or stored.
    """
    folder = data_folder(data_dir)
    if folder is None:
        folder = cache_folder()
        source = _source_in(entry, folder) or _source_online(entry)
        return source, [fetch_unless_there(file, folder) for file in source.files]
    found = _source_in(entry, folder)
    if found is None:
        raise _missing(entry, folder)
    return found, [read_checked(file, folder) for file in found.files]


def decode(entry: Entry, source: Source, contents: list[bytes]) -> Dataset:
    """Turn the bytes of a dataset's files into arrays.

    Args:
        entry: The catalogue entry of the dataset.
        source: The form of the files.
        contents: The bytes of each file of this form, already compared with their
            checksum.

    Returns:
        The dataset.

    Raises:
        ValueError: If the numbers of rows or columns differ from the catalogue.
    """
    data = source.read(
        [
            decompress(content, file.path)
            for content, file in zip(contents, source.files, strict=True)
        ]
    )
    if entry.image_shape is None:
        dataset = encode_table(data, entry, _describe(source))
    else:
        images, labels = data
        dataset = Dataset(
            name=entry.name,
            task=entry.task,
            x=images.astype(np.float32),
            y=labels.astype(np.int64),
            class_names=entry.class_names or entry.labels,
            source=_describe(source),
        )
    expected = source.rows or entry.size.rows, entry.size.inputs
    received = len(dataset.x), int(np.prod(dataset.x.shape[1:]))
    if received != expected:
        raise ValueError(
            f"{dataset.source}: expected {expected[0]} rows of {expected[1]} inputs. "
            f"Received: {received[0]} rows of {received[1]}"
        )
    return dataset


def _describe(source: Source) -> str:
    if source.package:
        return f"package {source.package}"
    text = source.files[0].path
    if len(source.files) > 1:
        text += f" and {len(source.files) - 1} more"
    return f"{text} ({source.note})" if source.note else text


def _source_in(entry: Entry, folder: Path) -> Source | None:
    """Return the first form that is available without fetching."""
    for source in entry.sources:
        if source.package:
            if importlib.util.find_spec(source.package) is not None:
                return source
        elif all((folder / file.path).is_file() for file in source.files):
            return source
    return None


def _source_online(entry: Entry) -> Source:
    return next(
        source
        for source in entry.sources
        if source.files and all(file.urls for file in source.files)
    )


def _missing(entry: Entry, folder: Path) -> FileNotFoundError:
    wanted = _source_online(entry).files
    absent = [file for file in wanted if not (folder / file.path).is_file()]
    subfolder = (folder / wanted[0].path).parent
    found = sorted(path.name for path in subfolder.glob("*"))
    return FileNotFoundError(
        f"{folder} does not contain {', '.join(file.path for file in absent)}. Get it "
        f"from {', '.join(file.urls[0] for file in absent)}, or do not set a folder "
        "(`data_dir`, KERAS_VAF_DATA_DIR), so that it is downloaded. "
        f"Received: {', '.join(found) or 'no file'} in {subfolder}"
    )
