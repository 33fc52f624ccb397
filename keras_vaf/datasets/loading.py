"""Datasets by name or path: `load` and `open_dataset`."""

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
from keras_vaf.datasets.tables.reading import TABLES, read_table


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a dataset of the paper from the publisher's files.

    With a folder, the files are read from that folder and nothing is fetched. Without
    a folder, the files are fetched once and stored next to those that Keras fetches.
    `wine` is also part of scikit-learn. Every file is compared with its known checksum
    before it is decompressed or parsed.

    Args:
        name: Short name in the catalogue, such as `"wine"`.
        data_dir: Folder with the publishers' files, as `keras-vaf data layout` shows
            it. `None` takes the one that `KERAS_VAF_DATA_DIR` names, if any.

    Returns:
        The dataset: the publisher's rows, in the publisher's order, unscaled.

    Raises:
        ValueError: If the catalogue has no dataset of this name, or a file is not the
            publisher's.
        FileNotFoundError: If the folder lacks a file. The message names its address.
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
    """Load a dataset of the paper, or read a table of one's own.

    Args:
        source: Name of a dataset in the catalogue, or path of a table.
        target: Column of the table to predict. The catalogue's datasets need none.
        data_dir: As in `load`.
        **options: Other arguments of `read_table`.

    Raises:
        ValueError: If a table comes without a target or cannot be used, or the
            catalogue has no dataset of this name.
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
    """Return the checked files of a dataset, fetched if no folder is named.

    Args:
        entry: The catalogue's entry of the dataset.
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
        entry: The catalogue's entry of the dataset.
        source: The form that the files have.
        contents: The bytes of each file of this form, already compared with a
            checksum.

    Returns:
        The dataset.

    Raises:
        ValueError: If the files have other rows or columns than the catalogue states.
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
        f"{folder} does not hold {', '.join(file.path for file in absent)}. "
        f"Get it from {', '.join(file.urls[0] for file in absent)}, or name no folder "
        "(`data_dir`, KERAS_VAF_DATA_DIR) to have it fetched. "
        f"Received: {', '.join(found) or 'no file'} in {subfolder}"
    )
