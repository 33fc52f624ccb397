"""Training as the paper does it: Algorithms 1 and 2, seeded folds and splits.

`train` keeps the weights of the epoch with the lowest validation loss (Algorithm 1). It
trains any compiled Keras model, as one compiled program instead of `keras.Model.fit`.
`Trainer` does the same for several trainings of one model, and `train_many` for many
models, which JAX trains together. `cross_validate` trains a user's own `build()` on
every fold and at every point of a grid, and tests the point that is best on validation
rows (Algorithm 2). `fold_rows` returns the training, validation and test rows of every
fold; it is made of `k_folds` and `split`.
"""

from keras_vaf.training.cross_validation import CrossValidation, cross_validate
from keras_vaf.training.folds import fold_rows
from keras_vaf.training.history import History
from keras_vaf.training.many import train_many
from keras_vaf.training.runs import TrainingRun
from keras_vaf.training.splits import k_folds, split
from keras_vaf.training.trainer import Trainer, train

__all__ = [
    "CrossValidation",
    "History",
    "Trainer",
    "TrainingRun",
    "cross_validate",
    "fold_rows",
    "k_folds",
    "split",
    "train",
    "train_many",
]
