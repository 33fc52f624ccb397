"""The paper's `Rprop`, and a separate learning rate for activation parameters.

Both are optimizers of Keras, saved with the model.
"""

from keras_vaf.optimizers.rprop import Rprop
from keras_vaf.optimizers.separate_learning_rate import activations_apart

__all__ = ["Rprop", "activations_apart"]
