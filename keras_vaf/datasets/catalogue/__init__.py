"""`CATALOGUE` and `find`: the datasets of the paper, as data."""

from keras_vaf.datasets.catalogue.classification import CLASSIFICATION
from keras_vaf.datasets.catalogue.entry import Entry, File, Size, Source
from keras_vaf.datasets.catalogue.images import IMAGES
from keras_vaf.datasets.catalogue.regression import REGRESSION
from keras_vaf.utils import check_choice

__all__ = ["CATALOGUE", "Entry", "File", "Size", "Source", "find"]

CATALOGUE: tuple[Entry, ...] = REGRESSION + CLASSIFICATION + IMAGES
"""The datasets of the paper, in the order of its table."""


def find(name: str) -> Entry:
    """Return the catalogue entry of a dataset.

    Args:
        name: Short name of the dataset, such as `"wine"`.

    Returns:
        The entry.

    Raises:
        ValueError: If the catalogue does not contain a dataset of this name.

    Example:

    >>> find("wine").size
    Size(rows=178, inputs=13, classes=3)
    """
    entries = {entry.name: entry for entry in CATALOGUE}
    return entries[check_choice("name", name, entries)]
