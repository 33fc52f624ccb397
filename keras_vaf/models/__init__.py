"""Whole networks: the fully connected ones of the paper; other activations as VAFs."""

from keras_vaf.models.inclusion import gaussian, to_vaf
from keras_vaf.models.networks import mlp

__all__ = ["gaussian", "mlp", "to_vaf"]
