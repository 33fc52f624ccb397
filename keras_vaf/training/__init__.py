"""Training as the paper does it: Algorithm 1, seeded folds and splits.

`train` runs up to so many epochs and keeps the weights of the best one. It trains any
compiled Keras model, as one compiled program instead of `keras.Model.fit`. `Trainer`
does the same for several trainings of one model. `k_folds` and `split` say which rows
are for training, validation and test.
"""

from keras_vaf.training.history import History
from keras_vaf.training.splits import k_folds, split
from keras_vaf.training.trainer import Trainer, train

__all__ = ["History", "Trainer", "k_folds", "split", "train"]
