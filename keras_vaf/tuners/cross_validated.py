"""`CrossValidated`, which adds K-fold cross-validation to a tuner of KerasTuner."""

from __future__ import annotations

import functools

from keras_vaf.tuners.cross_validated_tuner import CrossValidatedTuner
from keras_vaf.utils import require


def CrossValidated(tuner_class: type) -> type:
    """Return a tuner class that scores each trial by K-fold cross-validation.

    Each fold is the validation set of one training on the other folds, which keeps its
    best epoch (Algorithm 1). The score of a trial is the mean over the folds. Do not
    pass rows that are reserved for a test to the search. On JAX, a single program
    trains all folds of a trial.

    The class takes the arguments of the tuner, and in addition `folds` and `stratify`.
    `search(x, y, epochs)` runs the search, or resumes it after any
    interruption, even `kill -9`. `results()` returns the results of the trials.
    `refit_best()` trains a model with the best hyperparameters on all rows.

    Args:
        tuner_class: `keras_tuner.RandomSearch`, `BayesianOptimization`, `Hyperband`,
            `GridSearch` or another subclass of `keras_tuner.Tuner`. A trial that
            Hyperband continues starts from the best epochs of the earlier trial.

    Returns:
        The class.

    Raises:
        ValueError: If the argument is not a tuner class.
        ImportError: If KerasTuner is not installed.

    Example:

    >>> import keras_tuner
    >>> def build(hp):
    ...     layers = [keras.Input((3,)), keras.layers.Dense(4), activation(hp)]
    ...     model = keras.Sequential([*layers, keras.layers.Dense(1)])
    ...     model.compile("adam", "mse")
    ...     return model
    >>> tuner = CrossValidated(keras_tuner.RandomSearch)(
    ...     build, objective="val_loss", max_trials=2, folds=2, stratify=False, seed=1
    ... )
    >>> tuner.oracle.verbose = 0
    >>> x = np.random.normal(size=(20, 3))
    >>> tuner.search(x, x[:, 0], epochs=2)
    >>> [result.status for result in tuner.results()]
    ['COMPLETED', 'COMPLETED']
    >>> tuner.refit_best().count_params() > 21
    True
    """
    kind = require("keras_tuner", extra="tune").Tuner
    if not isinstance(tuner_class, type) or not issubclass(tuner_class, kind):
        raise ValueError(
            "`tuner_class` must be a tuner class such as keras_tuner.RandomSearch. "
            f"Received: tuner_class={tuner_class!r}"
        )
    return _cross_validated(tuner_class)


@functools.lru_cache(maxsize=64)
def _cross_validated(tuner_class: type) -> type:
    name = f"CrossValidated{tuner_class.__name__}"
    return type(name, (CrossValidatedTuner, tuner_class), {})
