"""Constraints on the weights of an activation and on its function.

A constraint projects its weights back after every step of the optimizer, for any
learning rate. `Interval`, `Monotone` and `Simplex` constrain weights of an activation.
`SlopeBound` constrains its function.
"""

from keras_vaf.constraints.function_constraint import FunctionConstraint
from keras_vaf.constraints.interval import Interval
from keras_vaf.constraints.monotone import Monotone
from keras_vaf.constraints.simplex import Simplex
from keras_vaf.constraints.slope_bound import SlopeBound

__all__ = [
    "FunctionConstraint",
    "Interval",
    "Monotone",
    "Simplex",
    "SlopeBound",
]
