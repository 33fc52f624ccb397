"""What the activations do while a model is trained.

`ActivationMonitor` records each learned function and the data that enter it, epoch by
epoch, for a picture and for TensorBoard, and warns when a shared function dies.
"""

from keras_vaf.callbacks.activation_monitor import ActivationMonitor

__all__ = ["ActivationMonitor"]
