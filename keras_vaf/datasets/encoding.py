"""`decode`, which turns the publishers' files of a dataset into arrays."""

import math
from collections.abc import Sequence

import numpy as np

from keras_vaf.datasets.catalogue import Entry, Source
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.parsers import Table, decompress


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


def encode_table(table: Table, entry: Entry, source: str) -> Dataset:
    """Turn a publisher's table into a dataset.

    Args:
        table: The table.
        entry: The catalogue entry of the dataset.
        source: Origin of the table.

    Returns:
        The dataset, with the columns in the order of the table.

    Raises:
        ValueError: If a row has more or fewer cells than there are columns.
    """
    widths = {len(row) for row in table.rows}
    if widths != {len(table.names)}:
        raise ValueError(
            f"{source}: expected rows of {len(table.names)} cells. "
            f"Received: rows of {sorted(widths)} cells"
        )
    columns = dict(zip(table.names, zip(*table.rows, strict=True), strict=True))
    target = columns.pop(entry.target)
    for name in entry.left_out:
        del columns[name]
    x = np.empty((len(table.rows), len(columns)), np.float32)
    for position, (name, cells) in enumerate(columns.items()):
        if name in entry.categories:
            x[:, position] = _indices(cells, entry.categories[name])
        else:
            x[:, position] = _numbers(cells, entry.missing)
    return Dataset(
        name=entry.name,
        task=entry.task,
        x=x,
        y=_indices(target, entry.labels) if entry.labels else _numbers(target),
        feature_names=tuple(columns),
        class_names=(entry.class_names or entry.labels) or None,
        categories={
            position: entry.categories[name]
            for position, name in enumerate(columns)
            if name in entry.categories
        },
        source=source,
    )


def _numbers(cells: Sequence[str], missing: Sequence[str] = ()) -> np.ndarray:
    values = [math.nan if cell in missing else float(cell) for cell in cells]
    return np.array(values, np.float32)


def _indices(cells: Sequence[str], names: Sequence[str]) -> np.ndarray:
    indices = {name: index for index, name in enumerate(names)}
    return np.array([indices[cell] for cell in cells], np.int64)
