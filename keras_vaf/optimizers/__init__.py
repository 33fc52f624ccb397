"""Optimizers of the paper that Keras does not have.

`Rprop` is what the paper trains its small data sets with, full batch. It is an ordinary
`keras.optimizers.Optimizer`: it can be compiled into any model and saved with it.
"""

from keras_vaf.optimizers.rprop import Rprop

__all__ = ["Rprop"]
