"""`VAFEstimator`, the base class of the scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

import keras
import numpy as np

from keras_vaf.sklearn.training import (
    Architecture,
    Settings,
    fit_network,
    outputs_of,
)
from keras_vaf.training.recipe import BATCH_SIZE, PATIENCE
from keras_vaf.utils import (
    check_integer,
    check_number,
    check_positive,
    check_sizes,
    require,
)

_base: Any = require("sklearn.base", extra="sklearn")
_checks: Any = require("sklearn.utils.validation", extra="sklearn")


class VAFEstimator(_base.BaseEstimator):
    """Base class of the estimators: parameters, training and pickling."""

    def __init__(
        self,
        hidden: tuple[int, ...] = (100, 50),
        k: int = 3,
        g: Any = "relu",
        sharing: Any = "layer",
        initialization: Any = "g",
        learning_rate: float = 0.003,
        epochs: int = 200,
        batch_size: int | None = BATCH_SIZE,
        validation_fraction: float | None = 0.1,
        patience: int | None = PATIENCE,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Args:
            X: Inputs of shape `(rows, inputs)`, as an array or a table of numbers.
            y: The class or the number to predict, of shape `(rows,)`.
            sample_weight: The weight of each row in the loss, of shape `(rows,)`.
                `None` means 1 for all rows.

        Returns:
            The estimator.

        Raises:
            ValueError: If an argument is out of its range, if `X` has missing entries,
                or if the loss is not finite after the first epoch.
        """
        numbers = not _base.is_classifier(self)
        X, y = _checks.validate_data(self, X, y, dtype=np.float64, y_numeric=numbers)
        targets, outputs = self._targets(y)
        self._fit(X, targets, sample_weight, outputs)
        return self

    def _targets(self, y: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the targets as the network learns them, and its number of outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define `_targets`.")

    def network_inputs(self, X: Any) -> np.ndarray:
        """Return the inputs of the network, scaled like the training rows.

        Args:
            X: Inputs, as in `predict`.

        Raises:
            ValueError: If an input is beyond the range of float32 after scaling.
        """
        _checks.check_is_fitted(self)
        X = _checks.validate_data(self, X, reset=False, dtype=np.float64)
        with np.errstate(over="ignore"):
            scaled = self._scaled(X)
        _check_range(X, scaled)
        return scaled

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return ((X - self._center) / self._spread).astype(np.float32)

    def _fit(
        self, X: np.ndarray, y: np.ndarray, sample_weight: Any, outputs: int
    ) -> None:
        """Fit the scaling and the network. Rows of weight 0 are ignored."""
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
        sharing = self.sharing
        architecture = Architecture(
            X.shape[1],
            outputs,
            check_sizes("hidden", self.hidden),
            self.k,
            self.g,
            tuple(sharing) if isinstance(sharing, list) else sharing,
            _base.is_classifier(self),
        )
        self.network_ = architecture.build(self.initialization, settings.seed)
        self.history_ = fit_network(
            self.network_, architecture, self._scaled(X), y, weights, settings
        )
        if self.history_.best_epoch == 0:
            raise ValueError(
                "The loss was not finite after the first epoch. Try a lower "
                f"learning rate. Received: learning_rate={self.learning_rate!r}"
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
            check_number(
                "validation_fraction", self.validation_fraction, above=0, below=1
            )
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
        outputs = outputs_of(self.network_, inputs)
        _check_range(inputs, outputs)
        return outputs

    def __getstate__(self) -> dict[str, Any]:
        """Return the state, with the network as its configuration and weights."""
        state = dict(super().__getstate__())
        if "network_" in state:
            network = state["network_"]
            state["network_"] = (network.get_config(), network.get_weights())
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state and rebuild the network."""
        if isinstance(state.get("network_"), tuple):
            config, weights = state["network_"]
            network = keras.Sequential.from_config(config)
            network.set_weights(weights)
            state = {**state, "network_": network}
        super().__setstate__(state)


def _check_range(inputs: np.ndarray, values: np.ndarray) -> None:
    """Raise a `ValueError` if values that are computed from inputs are not finite."""
    wrong = ~np.isfinite(values).all(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        largest = np.abs(inputs[row]).max()
        raise ValueError(
            "The inputs must be near enough to the training rows that the network "
            "computes finite numbers in float32. "
            f"Received: row {row} with the largest value {largest:g}"
        )
