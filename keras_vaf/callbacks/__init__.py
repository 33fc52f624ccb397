"""Callbacks that watch the activations while a model is trained.

`ActivationMonitor` records each learned function and its inputs, epoch by epoch, for a
picture and for TensorBoard. It warns when a shared function becomes constant.
"""

from keras_vaf.callbacks.activation_monitor import ActivationMonitor

__all__ = ["ActivationMonitor"]
