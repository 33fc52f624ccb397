"""The experiments of the paper: protocols, published numbers, tables and figures.

`reproduce` runs one of `EXPERIMENTS` and returns a `Reproduction`. Its table compares
the numbers of the run with those of the paper. No other part of the package imports
`keras_vaf.research.paper`.
"""

from keras_vaf.research.paper.catalogue import EXPERIMENTS, find_experiment
from keras_vaf.research.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.research.paper.files import keep, read_reproduction
from keras_vaf.research.paper.fully_connected import protocols_of
from keras_vaf.research.paper.reproduction import reproduce
from keras_vaf.research.paper.settings import with_settings

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Form",
    "Reproduction",
    "find_experiment",
    "keep",
    "protocols_of",
    "read_reproduction",
    "reproduce",
    "with_settings",
]
