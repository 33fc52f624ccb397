"""Starts of a trainable activation: the rules that set its weights before training.

With `initialization="g"`, f starts as g itself (`GStart`). `"random"` draws random
weights (`RandomStart`). With the name of an activation, f starts as that activation
(`FunctionStart`). A `Start` object allows further options. All starts are computed with
NumPy, so a seed gives the same weights on every backend.
"""

from keras_vaf.initializers.glorot import PortableGlorotUniform
from keras_vaf.initializers.identifiers import Identifier, get
from keras_vaf.initializers.known_starts import (
    FunctionStart,
    GStart,
    PiecewiseLinearStart,
)
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.start import Errors, Start

__all__ = [
    "Errors",
    "FunctionStart",
    "GStart",
    "Identifier",
    "PiecewiseLinearStart",
    "PortableGlorotUniform",
    "RandomStart",
    "Start",
    "get",
]
