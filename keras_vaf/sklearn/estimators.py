"""`VAFClassifier` and `VAFRegressor`, the scikit-learn estimators."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from keras_vaf.sklearn.base import VAFEstimator, center_and_spread
from keras_vaf.utils import require

_base: Any = require("sklearn.base", extra="sklearn")
_multiclass: Any = require("sklearn.utils.multiclass", extra="sklearn")


class VAFClassifier(_base.ClassifierMixin, VAFEstimator):
    """Classifier: a fully connected network with a VAF after each hidden layer.

    Inputs are standardised. A part of the rows is used for validation. Training keeps
    the weights of the epoch with the lowest validation loss, and stops early.

    Args:
        hidden: Widths of the hidden layers.
        k: Number of hidden units of a VAF, as in `VAFActivation`.
        g: Fixed activation of the hidden units, as in `VAFActivation`. By default the
            network starts as one with SiLU.
        sharing: Elements that share a function, as in `VAFActivation`.
        initialization: Start of the functions, as in `VAFActivation`.
        learning_rate: Learning rate of Adam.
        epochs: Largest number of epochs.
        batch_size: Number of rows per mini-batch; `None` uses all rows at once.
        validation_fraction: Share of the rows used for validation. With `None`, or with
            fewer than 10 rows, the network is trained on all rows, and the epoch with
            the lowest training loss is kept.
        patience: Number of epochs without a better validation loss after which training
            stops. `None` never stops early.
        random_state: Seed of the start weights, the validation rows and the
            mini-batches: an integer, `None`, or a `numpy.random.RandomState`.
        activation: `"vaf"`, or the name of a fixed activation such as `"relu"`, which
            then replaces the VAFs. `GridSearchCV` can compare them.

    Attributes:
        classes_: The classes.
        network_: The trained Keras model. Its outputs are logits.
        history_: The `History` of the training.
        n_iter_: Number of epochs that were trained.
        n_features_in_: Number of inputs.

    Example:

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = VAFClassifier(hidden=(10,), random_state=0).fit(X, y)
    >>> classifier.predict_proba(X).shape
    (150, 3)
    >>> bool(classifier.score(X, y) > 0.9)
    True
    """

    def _encode(self, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, int]:
        _multiclass.check_classification_targets(y)
        self.classes_, indices = np.unique(y, return_inverse=True)
        return indices, len(self.classes_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of `classes_` for each row of `X`."""
        logits = self._outputs(X)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row of `X`."""
        best = self._outputs(X).argmax(axis=1)  # needs a fitted estimator
        return self.classes_[best]


class VAFRegressor(_base.MultiOutputMixin, _base.RegressorMixin, VAFEstimator):
    """Regressor: a fully connected network with a VAF after each hidden layer.

    Inputs and targets are standardised; predictions have the units of the targets. The
    arguments and attributes are those of `VAFClassifier`, without classes.

    Example:

    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> regressor = VAFRegressor(hidden=(20, 10), random_state=0).fit(X, y)
    >>> bool(regressor.score(X, y) > 0.9)
    True
    """

    def _encode(self, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, int]:
        y = y.astype(np.float64)
        center, spread = center_and_spread("y", y, weights)
        self._target_center, self._target_spread = center, spread
        return (y - center) / spread, math.prod(y.shape[1:])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions, in the units and the shape of the targets."""
        outputs = self._outputs(X)
        shape = (len(outputs), *np.shape(self._target_center))
        return outputs.reshape(shape) * self._target_spread + self._target_center
