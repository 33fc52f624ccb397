"""The paper's `Rprop`, and a separate learning rate for activation parameters.

The paper trains its small datasets with `Rprop`, full batch. `activations_apart` gives
activation parameters a separate learning rate and no weight decay, with any Keras
optimizer. Both are ordinary `keras.optimizers.Optimizer` objects: they can be compiled
into any model and are saved with it.
"""

from keras_vaf.optimizers.rprop import Rprop
from keras_vaf.optimizers.separate_learning_rate import (
    ActivationsApart,
    activations_apart,
)

__all__ = ["ActivationsApart", "Rprop", "activations_apart"]
