"""The paper's tables with classes to predict."""

from functools import partial

from keras_vaf.datasets.catalogue.entry import Entry, File, Size, Source
from keras_vaf.datasets.parsers import Table, read_text
from keras_vaf.utils import require

WINE_COLUMNS = (
    "class",
    "alcohol",
    "malic_acid",
    "ash",
    "alcalinity_of_ash",
    "magnesium",
    "total_phenols",
    "flavanoids",
    "nonflavanoid_phenols",
    "proanthocyanins",
    "color_intensity",
    "hue",
    "od280/od315_of_diluted_wines",
    "proline",
)


def read_wine_of_scikit_learn() -> Table:
    """Return scikit-learn's copy of the wine table, with the publisher's labels."""
    wine = require("sklearn.datasets", extra="experiments").load_wine()
    rows = [
        [str(label + 1), *map(str, values)]
        for label, values in zip(wine.target, wine.data, strict=True)
    ]
    return Table("scikit-learn", WINE_COLUMNS, rows, range(1, len(rows) + 1))


CLASSIFICATION = (
    Entry(
        name="wine",
        paper_name="Wine",
        size=Size(178, 13, 3),
        paper_size=Size(178, 13, 3),
        publisher="https://archive.ics.uci.edu/dataset/109/wine",
        licence="CC BY 4.0",
        citation="S. Aeberhard, M. Forina, 1992. UCI Machine Learning Repository",
        sources=(
            Source(
                partial(read_text, separator=",", names=WINE_COLUMNS),
                (
                    File(
                        "wine/wine.data",
                        (
                            "sha256:6be6b1203f3d51df0b553a70e57b8a72"
                            "3cd405683958204f96d23d7cd6aea659",
                        ),
                        10782,
                    ),
                ),
            ),
            Source(read_wine_of_scikit_learn, package="sklearn"),
        ),
        target="class",
        labels=("1", "2", "3"),
    ),
)
