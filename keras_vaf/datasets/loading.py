"""A dataset of the paper, by its name."""

import importlib.util
import os
from pathlib import Path

from keras_vaf.datasets.catalogue import Entry, Source, find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.encoding import encode_table


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a dataset of the paper, as the publisher gave it out.

    Args:
        name: Its short name, such as `"wine"`.
        data_dir: Folder with the publishers' files. `None` takes the folder that the
            environment variable `KERAS_VAF_DATA_DIR` names.

    Returns:
        The dataset, its rows in the publisher's order.

    Raises:
        ValueError: If there is no dataset of this name, or a file is not what it must
            be.
        FileNotFoundError: If a file is not there; the message says where to get it.

    Example:

    >>> load("wine")
    Dataset('wine', classification, 178 rows, 13 inputs, 3 classes)
    """
    entry = find(name)
    folder = Path(data_dir or os.environ.get("KERAS_VAF_DATA_DIR", "."))
    for source in entry.sources:
        if _is_there(source, folder):
            return _read(entry, source, folder)
    raise FileNotFoundError(f"{folder} does not hold the files of {name!r}")


def _is_there(source: Source, folder: Path) -> bool:
    if source.package:
        return importlib.util.find_spec(source.package) is not None
    return all((folder / file.path).is_file() for file in source.files)


def _read(entry: Entry, source: Source, folder: Path) -> Dataset:
    if source.package:
        table = source.read()
    else:
        file = source.files[0].path
        table = source.read((folder / file).read_bytes(), file)
    return encode_table(
        table,
        name=entry.name,
        target=entry.target,
        labels=entry.labels or None,
        class_names=entry.class_names or None,
        left_out=entry.left_out,
        categories=entry.categories,
        missing=entry.missing,
        source=table.file,
    )
