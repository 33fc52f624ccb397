"""The paper's `Rprop`, and a separate learning rate for activation parameters.

The paper trains its small datasets with `Rprop` on full batches. `activations_apart`
gives activation parameters a separate learning rate and no weight decay, with any Keras
optimizer. Both work as a `keras.optimizers.Optimizer`: pass them to `model.compile`;
they are saved with the model.
"""

from keras_vaf.optimizers.rprop import Rprop
from keras_vaf.optimizers.separate_learning_rate import (
    ActivationsApart,
    activations_apart,
)

__all__ = ["ActivationsApart", "Rprop", "activations_apart"]
