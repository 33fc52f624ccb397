"""Training as the paper does it: Algorithms 1 and 2, seeded folds and splits.

`train` runs up to so many epochs and keeps the weights of the best one (Algorithm 1).
It trains any compiled Keras model, as one compiled program instead of
`keras.Model.fit`. `Trainer` does the same for several trainings of one model, and
`train_many` for many models, which JAX trains together. `cross_validate` trains a
user's own `build()` on every fold and at every point of a grid, and tests what does
best on validation rows (Algorithm 2). `k_folds` and `split` say which rows are for
training, validation and test.
"""

from keras_vaf.training.cross_validation import CrossValidation, cross_validate
from keras_vaf.training.history import History
from keras_vaf.training.many import train_many
from keras_vaf.training.member import Member
from keras_vaf.training.splits import k_folds, split
from keras_vaf.training.trainer import Trainer, train

__all__ = [
    "CrossValidation",
    "History",
    "Member",
    "Trainer",
    "cross_validate",
    "k_folds",
    "split",
    "train",
    "train_many",
]
