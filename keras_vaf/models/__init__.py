"""Whole networks: the fully connected ones of the paper; other activations as VAFs."""

from keras_vaf.models.networks import mlp
from keras_vaf.models.inclusion import gaussian, to_vaf

__all__ = ["gaussian", "mlp", "to_vaf"]
