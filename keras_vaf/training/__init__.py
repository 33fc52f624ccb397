"""Training as in the paper: Algorithms 1 and 2, with seeded folds and splits.

`train` keeps the weights of the epoch with the lowest validation loss (Algorithm 1). It
trains any compiled Keras model, with a compiled program instead of `keras.Model.fit`.
`Trainer` trains many networks of one architecture, on JAX together. `fold_rows` returns
the training, validation and test rows of every fold, and `split` those of one split.
Algorithm 2, the selection over folds, is that of `keras_vaf.experiments`.
"""

from keras_vaf.training.folds import fold_rows
from keras_vaf.training.history import History, NetworkRun
from keras_vaf.training.one_model import train
from keras_vaf.training.splits import split
from keras_vaf.training.trainer import Trainer

__all__ = ["History", "NetworkRun", "Trainer", "fold_rows", "split", "train"]
