"""How a trainable activation starts.

`initialization="random"` draws a function at random (`RandomStart`); the name of an
activation starts there (`FunctionStart`); a `Start` object says more. All of them draw
and compute with NumPy, so that a seed means the same on every backend.
"""

from keras_vaf.initializers.curve_start import CurveStart
from keras_vaf.initializers.function_start import FunctionStart
from keras_vaf.initializers.glorot import PortableGlorotUniform
from keras_vaf.initializers.identifiers import Identifier, get
from keras_vaf.initializers.piecewise_linear_start import PiecewiseLinearStart
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.start import Start

__all__ = [
    "CurveStart",
    "FunctionStart",
    "Identifier",
    "PiecewiseLinearStart",
    "PortableGlorotUniform",
    "RandomStart",
    "Start",
    "get",
]
