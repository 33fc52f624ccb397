"""The experiments of the paper, its networks and its published numbers.

`reproduce` runs one of the five experiments and returns a `Reproduction`, whose table
has the published numbers next to ours. `published` returns the published numbers alone.
No other part of the package imports `keras_vaf.paper`.
"""

from keras_vaf.paper.networks import cnet
from keras_vaf.paper.parts import Reproduction
from keras_vaf.paper.reproduction import reproduce
from keras_vaf.paper.tables import published

__all__ = ["Reproduction", "cnet", "published", "reproduce"]
