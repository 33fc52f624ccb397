"""Starts of a trainable activation.

`initialization="g"` means that f starts as g itself (`GStart`). `"random"` draws a
function at random (`RandomStart`). The name of an activation means that f starts as
that activation (`FunctionStart`). A `Start` object can say more. All starts compute
with NumPy, so that a seed gives the same weights on every backend.
"""

from keras_vaf.initializers.curve_start import CurveStart
from keras_vaf.initializers.function_start import FunctionStart
from keras_vaf.initializers.g_start import GStart
from keras_vaf.initializers.glorot import PortableGlorotUniform
from keras_vaf.initializers.identifiers import Identifier, get
from keras_vaf.initializers.piecewise_linear_start import PiecewiseLinearStart
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.siren import SirenKernel
from keras_vaf.initializers.start import Errors, Start
from keras_vaf.initializers.starts import STARTS

__all__ = [
    "STARTS",
    "CurveStart",
    "Errors",
    "FunctionStart",
    "GStart",
    "Identifier",
    "PiecewiseLinearStart",
    "PortableGlorotUniform",
    "RandomStart",
    "SirenKernel",
    "Start",
    "get",
]
