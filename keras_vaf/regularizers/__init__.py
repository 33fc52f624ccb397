"""Penalties on the learned function, and how steep it can be."""

from keras_vaf.regularizers.damping import Damping
from keras_vaf.regularizers.lipschitz import Lipschitz, lipschitz_bound
from keras_vaf.regularizers.slope_variation import SlopeVariation

__all__ = ["Damping", "Lipschitz", "SlopeVariation", "lipschitz_bound"]
