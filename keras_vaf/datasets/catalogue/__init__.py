"""The catalogue: the paper's datasets, in the order of its table, as data."""

import difflib

from keras_vaf.datasets.catalogue.classification import CLASSIFICATION
from keras_vaf.datasets.catalogue.entry import Entry, File, Size, Source
from keras_vaf.datasets.catalogue.images import IMAGES
from keras_vaf.datasets.catalogue.regression import REGRESSION

__all__ = ["CATALOGUE", "Entry", "File", "Size", "Source", "find"]

CATALOGUE: tuple[Entry, ...] = REGRESSION + CLASSIFICATION + IMAGES
"""The paper's datasets, in the order of its table."""


def find(name: str) -> Entry:
    """Return the catalogue's entry of a dataset.

    Args:
        name: Its short name, such as `"wine"`.

    Returns:
        The entry.

    Raises:
        ValueError: If there is no dataset of this name.

    Example:

    >>> find("wine").size
    Size(rows=178, inputs=13, classes=3)
    """
    entries = {entry.name: entry for entry in CATALOGUE}
    if name in entries:
        return entries[name]
    close = difflib.get_close_matches(name, entries, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"`name` must be one of {', '.join(entries)}.{hint} Received: name={name!r}"
    )
