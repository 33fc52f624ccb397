"""Whole networks: the fully connected ones of the paper."""

from keras_vaf.models.networks import mlp

__all__ = ["mlp"]
