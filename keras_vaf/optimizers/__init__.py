"""The paper's `Rprop`, and a separate learning rate for activation parameters.

The paper trains its small datasets with `Rprop` on full batches. `activations_apart`
gives activation parameters no weight decay and, if wanted, their own learning rate,
with any Keras optimizer. Both are optimizers of Keras, saved with the model.
"""

from keras_vaf.optimizers.rprop import Rprop
from keras_vaf.optimizers.separate_learning_rate import activations_apart

__all__ = ["Rprop", "activations_apart"]
