"""Estimators of scikit-learn: `VAFClassifier` and `VAFRegressor`."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from keras_vaf.sklearn.training import (
    Settings,
    build_network,
    fit_network,
    outputs_of,
)
from keras_vaf.utils import check_integer, check_number, check_positive, require

_base: Any = require("sklearn.base", extra="sklearn")
_checks: Any = require("sklearn.utils.validation", extra="sklearn")
_multiclass: Any = require("sklearn.utils.multiclass", extra="sklearn")


class _VAFEstimator(_base.BaseEstimator):
    """The common part of the two estimators."""

    def __init__(
        self,
        hidden: tuple[int, ...] = (100, 50),
        k: int = 3,
        g: Any = "relu",
        sharing: Any = "layer",
        initialization: Any = "g",
        learning_rate: float = 0.003,
        epochs: int = 200,
        batch_size: int | None = 64,
        validation_fraction: float | None = 0.1,
        patience: int | None = 30,
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.k = k
        self.g = g
        self.sharing = sharing
        self.initialization = initialization
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state

    def network_inputs(self, X: Any) -> np.ndarray:
        """Return inputs as the network takes them, scaled as the training rows were.

        Args:
            X: Inputs, as `predict` takes them.
        """
        _checks.check_is_fitted(self)
        X = _checks.validate_data(self, X, reset=False, dtype=np.float64)
        return self._scaled(X)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return ((X - self._center) / self._spread).astype(np.float32)

    def _fit(
        self, X: np.ndarray, y: np.ndarray, sample_weight: Any, outputs: int
    ) -> None:
        """Fit scale and network; rows of weight 0 have no part in it."""
        settings = self._settings()
        weights = _checks._check_sample_weight(sample_weight, X, dtype=np.float64)
        used = weights != 0
        if weights.min() < 0:
            raise ValueError(
                "`sample_weight` must hold numbers of at least 0. "
                f"Received: weights from {weights.min()} to {weights.max()}"
            )
        X, y, weights = X[used], y[used], weights[used]
        self._center = X.mean(axis=0)
        spread = X.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        self.network_ = build_network(
            X.shape[1],
            outputs,
            tuple(self.hidden),
            settings.seed,
            initialization=self.initialization,
            k=self.k,
            g=self.g,
            sharing=self.sharing,
        )
        classes = _base.is_classifier(self)
        self.history_ = fit_network(
            self.network_, self._scaled(X), y, weights, classes, settings
        )
        self.n_iter_ = self.history_.epochs

    def _settings(self) -> Settings:
        """Check the training options."""
        check_positive("learning_rate", self.learning_rate)
        check_integer("epochs", self.epochs)
        for name in ("batch_size", "patience"):
            if (value := getattr(self, name)) is not None:
                check_integer(name, value)
        if self.validation_fraction is not None:
            check_number("validation_fraction", self.validation_fraction, above=0)
        state = require("sklearn.utils", "sklearn").check_random_state
        seed = int(state(self.random_state).randint(2**31 - 1))
        return Settings(
            self.learning_rate,
            self.epochs,
            self.batch_size,
            self.validation_fraction,
            self.patience,
            seed,
        )

    def _outputs(self, X: Any) -> np.ndarray:
        inputs = self.network_inputs(X)
        return outputs_of(self.network_, inputs)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the network as its configuration and weights."""
        state = dict(super().__getstate__())
        if "network_" in state:
            network = state["network_"]
            state["network_"] = (network.get_config(), network.get_weights())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, and build the network again."""
        if isinstance(state.get("network_"), tuple):
            config, weights = state["network_"]
            network = keras.Sequential.from_config(config)
            network.set_weights(weights)
            state = {**state, "network_": network}
        super().__setstate__(state)


class VAFClassifier(_base.ClassifierMixin, _VAFEstimator):
    """Classifier: a fully connected network with a VAF after each hidden layer.

    Inputs are standardised. A part of the rows is set apart, and the weights of the
    epoch with the lowest loss on these rows are kept (early stopping).

    Args:
        hidden: Widths of the hidden layers.
        k: Number of hidden units of a VAF, as in `VAFActivation`.
        g: Fixed activation of the hidden units, as in `VAFActivation`.
        sharing: Which elements share a function, as in `VAFActivation`.
        initialization: How the functions start, as in `VAFActivation`.
        learning_rate: Learning rate of Adam.
        epochs: Largest number of epochs.
        batch_size: Rows of a mini-batch; `None` takes all rows at once.
        validation_fraction: Share of the rows that selects the best epoch. `None`
            trains on all rows, and so do tables of fewer than 10 rows; the epoch with
            the lowest training loss is kept then.
        patience: Epochs without a better validation loss after which training stops;
            `None` never stops early.
        random_state: Seed of starts, validation rows and mini-batches: an integer,
            `None`, or a `numpy.random.RandomState`.

    Attributes:
        classes_: The classes.
        network_: The trained Keras model. Its outputs are logits.
        history_: The `History` of the training.
        n_iter_: Number of epochs that were run.
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VAFClassifier:
        """Train the network.

        Args:
            X: Inputs, an array or a table of numbers, one row for each sample.
            y: The class of each row.
            sample_weight: The weight of each row in the loss; `None` is 1 for all.

        Returns:
            The estimator.

        Raises:
            ValueError: If an argument is out of its range, or `X` has missing entries.
        """
        X, y = _checks.validate_data(self, X, y, dtype=np.float64)
        _multiclass.check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._fit(X, codes, sample_weight, outputs=len(self.classes_))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, in the order of `classes_`.

        Args:
            X: Inputs, as in `fit`.
        """
        logits = self._outputs(X)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row.

        Args:
            X: Inputs, as in `fit`.
        """
        best = self._outputs(X).argmax(axis=1)
        return self.classes_[best]


class VAFRegressor(_base.RegressorMixin, _VAFEstimator):
    """Regressor: a fully connected network with a VAF after each hidden layer.

    Inputs and targets are standardised; predictions have the units of the targets. A
    part of the rows is set apart, and the weights of the epoch with the lowest error on
    these rows are kept (early stopping).

    Args:
        hidden: Widths of the hidden layers.
        k: Number of hidden units of a VAF, as in `VAFActivation`.
        g: Fixed activation of the hidden units, as in `VAFActivation`.
        sharing: Which elements share a function, as in `VAFActivation`.
        initialization: How the functions start, as in `VAFActivation`.
        learning_rate: Learning rate of Adam.
        epochs: Largest number of epochs.
        batch_size: As in `VAFClassifier`.
        validation_fraction: As in `VAFClassifier`.
        patience: As in `VAFClassifier`.
        random_state: As in `VAFClassifier`.

    Attributes:
        network_: The trained Keras model, of scaled inputs and a scaled output.
        history_: The `History` of the training.
        n_iter_: Number of epochs that were run.
        n_features_in_: Number of inputs.

    Example:

    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> regressor = VAFRegressor(hidden=(10,), random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(regressor.score(X, np.sin(X[:, 0])) > 0.9)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VAFRegressor:
        """Train the network.

        Args:
            X: Inputs, an array or a table of numbers, one row for each sample.
            y: The target of each row.
            sample_weight: The weight of each row in the loss; `None` is 1 for all.

        Returns:
            The estimator.

        Raises:
            ValueError: If an argument is out of its range, or `X` has missing entries.
        """
        X, y = _checks.validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        y = y.astype(np.float64)
        self._target_center, spread = y.mean(), y.std()
        self._target_spread = spread if spread > 0 else 1.0
        scaled = (y - self._target_center) / self._target_spread
        self._fit(X, scaled, sample_weight, outputs=1)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions, in the units of the targets.

        Args:
            X: Inputs, as in `fit`.
        """
        return self._outputs(X)[:, 0] * self._target_spread + self._target_center
