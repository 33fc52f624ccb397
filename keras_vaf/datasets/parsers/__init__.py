"""Readers of the publishers' file formats.

Each takes the bytes of a file and its name and returns a `Table` of text cells, or
arrays for images. What they cannot read is a `ValueError` that names file and line.
"""

from keras_vaf.datasets.parsers.arff import read_arff
from keras_vaf.datasets.parsers.cifar import read_cifar_archive, read_cifar_batches
from keras_vaf.datasets.parsers.compression import decompress
from keras_vaf.datasets.parsers.idx import read_idx, read_idx_parts
from keras_vaf.datasets.parsers.scikit_learn import read_wine_of_scikit_learn
from keras_vaf.datasets.parsers.table import Table, join_tables, problem
from keras_vaf.datasets.parsers.text import read_text
from keras_vaf.datasets.parsers.workbook import read_workbook

__all__ = [
    "Table",
    "decompress",
    "join_tables",
    "problem",
    "read_arff",
    "read_cifar_archive",
    "read_cifar_batches",
    "read_idx",
    "read_idx_parts",
    "read_text",
    "read_wine_of_scikit_learn",
    "read_workbook",
]
