"""Constraints on the weights of an activation.

A constraint projects its weights back after every step of the optimizer, for any
learning rate.
"""

from keras_vaf.constraints.interval import Interval
from keras_vaf.constraints.simplex import Simplex

__all__ = ["Interval", "Simplex"]
