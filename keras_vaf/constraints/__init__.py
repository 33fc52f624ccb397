"""Sets that the weights of an activation are kept in while they are trained.

An optimizer's step may lead out of the set; the constraint then takes the nearest point
of it, whatever the learning rate.
"""

from keras_vaf.constraints.interval import Interval
from keras_vaf.constraints.monotone import Monotone
from keras_vaf.constraints.simplex import Simplex

__all__ = ["Interval", "Monotone", "Simplex"]
