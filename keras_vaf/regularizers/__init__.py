"""Penalties on the learned function."""

from keras_vaf.regularizers.damping import Damping
from keras_vaf.regularizers.function_regularizer import FunctionRegularizer
from keras_vaf.regularizers.slope_variation import SlopeVariation

__all__ = [
    "Damping",
    "FunctionRegularizer",
    "SlopeVariation",
]
