"""`read_text`, `read_arff` and other readers of the publishers' formats.

They take the bytes of all files of a dataset, whose checksum `load` knows, and return
names of columns and rows of text cells, or images and labels.
"""

import gzip
import io
import lzma
import pickle
import re
import tarfile
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from keras_vaf.utils import require

Table = tuple[tuple[str, ...], list[list[str]]]  # names of columns, rows of cells

_ATTRIBUTE = re.compile(r"""\s*@attribute\s+('[^']*'|"[^"]*"|\S+)""", re.IGNORECASE)
_DATA = re.compile(r"^@data\s*$", re.IGNORECASE | re.MULTILINE)


def decompress(content: bytes, file: str) -> bytes:
    """Return the content of a file, decompressed if its name ends in .gz or .xz."""
    readers = {".gz": gzip.decompress, ".xz": lzma.decompress}
    return readers.get(PurePosixPath(file).suffix, bytes)(content)


def read_text(
    contents: Sequence[bytes],
    separator: str | None = None,
    names: Sequence[str] | None = None,
) -> Table:
    """Read text with one row per line.

    `separator` is the text between two cells, `None` any run of white space. The
    default of `names` reads them from the first line.
    """
    rows = [
        [cell.strip() for cell in line.split(separator)]
        for content in contents
        for line in content.decode().splitlines()
        if line.strip()
    ]
    return tuple(names or rows.pop(0)), rows


def read_arff(contents: Sequence[bytes]) -> Table:
    """Read the ARFF format of WEKA, with commas, spaces or both between the values.

    SciPy's reader cannot read `delta_elevators.arff`, whose separators are spaces.
    """
    header, *body = _DATA.split(contents[0].decode(), maxsplit=1)
    attributes = filter(None, map(_ATTRIBUTE.match, header.splitlines()))
    names = tuple(attribute[1].strip("'\"") for attribute in attributes)
    rows = (line.replace(",", " ").split() for line in "".join(body).splitlines())
    return names, [row for row in rows if row and row[0][0] != "%"]


def read_workbook(contents: Sequence[bytes], **options: Any) -> Table:
    """Read a sheet of a workbook, with options of `pandas.read_excel`."""
    pandas = require("pandas", extra="data")
    fixed = {"dtype": object, "na_filter": False, "engine": "calamine"}
    frame = pandas.read_excel(io.BytesIO(contents[0]), **fixed, **options).map(str)
    return tuple(frame), frame.to_numpy().tolist()


def read_wine_of_scikit_learn(contents: Sequence[bytes] = ()) -> Table:
    """Return scikit-learn's copy of the wine table, with the labels as first column."""
    wine = require("sklearn.datasets", extra="experiments").load_wine()
    rows = np.column_stack([wine.target + 1, wine.data]).tolist()
    names = ("class", *wine.feature_names)
    return names, [[str(int(row[0])), *map(str, row[1:])] for row in rows]


def read_idx(contents: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Read images and labels of MNIST, as uint8: images, then labels, for each part."""
    arrays = []
    for content in contents:
        axes = content[3]
        shape = np.frombuffer(content, ">u4", axes, offset=4)
        values = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
        arrays.append(values.reshape(shape))
    return np.concatenate(arrays[::2])[..., None], np.concatenate(arrays[1::2])


# A batch of CIFAR-10 names only these. Any other name in a pickle could run code.
_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
}


class BatchUnpickler(pickle.Unpickler):
    """Unpickles NumPy arrays and plain Python values, and raises for anything else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return the object that a pickle names, if a batch may need it."""
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"A batch must not use {module}.{name}.")
        return _ALLOWED[module, name]


def read_cifar_batches(contents: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Read images and labels of CIFAR-10, uint8, from pickles written by Python 2."""
    batches = [
        BatchUnpickler(io.BytesIO(content), encoding="bytes").load()
        for content in contents
    ]
    images = np.concatenate([batch[b"data"] for batch in batches])
    labels = np.concatenate([batch[b"labels"] for batch in batches])
    return images.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels.astype("uint8")


def read_cifar_archive(contents: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Read the batches from the publisher's archive, without unpacking it to disk."""
    names = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
    with tarfile.open(fileobj=io.BytesIO(contents[0])) as archive:
        members = [archive.extractfile(f"cifar-10-batches-py/{n}") for n in names]
        return read_cifar_batches([member.read() for member in members if member])
