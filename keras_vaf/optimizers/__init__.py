"""Optimizers of the paper that Keras does not have, and activations trained apart.

`Rprop` is what the paper trains its small datasets with, full batch.
`activations_apart` gives activation parameters a learning rate of their own and no
weight decay, with any Keras optimizer. Both are ordinary `keras.optimizers.Optimizer`:
they can be compiled into any model and are saved with it.
"""

from keras_vaf.optimizers.rprop import Rprop
from keras_vaf.optimizers.separate_learning_rate import (
    ActivationsApart,
    activations_apart,
)

__all__ = ["ActivationsApart", "Rprop", "activations_apart"]
