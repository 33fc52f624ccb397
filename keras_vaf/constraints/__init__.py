"""Sets that weights, or a learned function, are kept in during training.

An optimizer's step may lead out of the set. The constraint then returns to it, whatever
the learning rate. `Interval`, `Monotone` and `Simplex` are for the weights of an
activation, `SlopeBound` is for its function, and `SpectralNorm` and `Orthogonal` are
for the kernels of Keras's own layers.
"""

from keras_vaf.constraints.function_constraint import FunctionConstraint
from keras_vaf.constraints.interval import Interval
from keras_vaf.constraints.monotone import Monotone
from keras_vaf.constraints.simplex import Simplex
from keras_vaf.constraints.slope_bound import SlopeBound
from keras_vaf.constraints.spectral import Orthogonal, SpectralNorm

__all__ = [
    "FunctionConstraint",
    "Interval",
    "Monotone",
    "Orthogonal",
    "Simplex",
    "SlopeBound",
    "SpectralNorm",
]
