"""The datasets of the paper and users' own tables, as arrays.

`load` reads a dataset of the paper, which `CATALOGUE` describes. `read_table` reads a
user's own table. Both return a `Dataset`. `Preprocessing` scales inputs and targets by
statistics of the training rows. `TableEncoder` does the same inside a saved network, so
that `predict_table` can predict the rows of a table.
"""

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, Size, find
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.loading import load
from keras_vaf.datasets.preprocessing import FittedPreprocessing, Preprocessing
from keras_vaf.datasets.tables.columns import Column, TableError
from keras_vaf.datasets.tables.encoder import TableEncoder, predict_table
from keras_vaf.datasets.tables.reading import read_table

__all__ = [
    "CATALOGUE",
    "Column",
    "Dataset",
    "Entry",
    "FittedPreprocessing",
    "Preprocessing",
    "Size",
    "TableEncoder",
    "TableError",
    "find",
    "load",
    "predict_table",
    "read_table",
]
