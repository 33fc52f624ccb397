"""Penalties on the learned function, and `lipschitz_bound`, a bound on its slope."""

from keras_vaf.regularizers.damping import Damping
from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.regularizers.lipschitz import lipschitz_bound
from keras_vaf.regularizers.slope_variation import SlopeVariation

__all__ = [
    "Damping",
    "FunctionRegularizer",
    "SlopeVariation",
    "lipschitz_bound",
]
