"""Readers of the publishers' file formats.

Each takes the bytes of a file and its name and returns a `Table` of text cells, or
arrays for images. What they cannot read is a `ValueError` that names file and line.
"""

from keras_vaf.datasets.parsers.table import Table, make_table, problem
from keras_vaf.datasets.parsers.text import decode, read_text

__all__ = ["Table", "decode", "make_table", "problem", "read_text"]
