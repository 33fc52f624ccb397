"""The equation of a trainable activation, as a function of tensors.

Layers own weights and configuration. The functions that they compute are defined here.
"""

from keras_vaf.ops.activations import NAMES
from keras_vaf.ops.dispatch import pointwise
from keras_vaf.ops.environment import info
from keras_vaf.ops.equation import VAF, Pointwise
from keras_vaf.ops.switches import plain_operators

__all__ = [
    "NAMES",
    "VAF",
    "Pointwise",
    "info",
    "plain_operators",
    "pointwise",
]
