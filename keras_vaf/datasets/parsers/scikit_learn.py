"""The table that comes with scikit-learn."""

from keras_vaf.datasets.parsers.table import Table
from keras_vaf.utils import require


def read_wine_of_scikit_learn() -> Table:
    """Return scikit-learn's copy of the wine table, the publisher's labels in front.

    Returns:
        The table.

    Raises:
        ImportError: If scikit-learn is not installed.
    """
    wine = require("sklearn.datasets", extra="experiments").load_wine()
    rows = [
        [str(label + 1), *map(str, values)]
        for label, values in zip(wine.target, wine.data, strict=True)
    ]
    names = ("class", *wine.feature_names)
    return Table("scikit-learn", names, rows, range(1, len(rows) + 1))
