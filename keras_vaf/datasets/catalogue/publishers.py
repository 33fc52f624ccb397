"""`text_source`, the source of a text table, and facts about the publishers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from keras_vaf.datasets.catalogue.entry import File, Source
from keras_vaf.datasets.parsers import read_text

UCI = "https://archive.ics.uci.edu/dataset/"
UCI_LICENCE = "CC BY 4.0"
UCI_CITATION = "UCI Machine Learning Repository"

TORGO = "http://www.ncc.up.pt/~ltorgo/Regression/DataSets.html"
TORGO_CITATION = "L. Torgo, Regression data sets, University of Porto"

UNKNOWN_LICENCE = "unknown, as distributed"


def text_source(
    *files: File,
    separator: str | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> Source:
    """Return the source of a text table; see `read_text` and `Source`."""
    return Source(
        partial(read_text, separator=separator, names=names), files, **options
    )
