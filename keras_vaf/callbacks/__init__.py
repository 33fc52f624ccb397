"""Callbacks that monitor the activations during training.

`ActivationMonitor` records each learned function and its inputs after every epoch, and
draws a picture. It warns when a shared function becomes constant.
"""

from keras_vaf.callbacks.activation_monitor import ActivationMonitor

__all__ = ["ActivationMonitor"]
