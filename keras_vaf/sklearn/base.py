"""`VAFEstimator`, the base class of the scikit-learn estimators."""

from __future__ import annotations

from typing import Any, Self

import keras
import numpy as np

from keras_vaf.layers.arguments import SignatureOfInit
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
    did_you_mean,
    require,
)

_base: Any = require("sklearn.base", extra="sklearn")
_checks: Any = require("sklearn.utils.validation", extra="sklearn")


class VAFEstimator(_base.BaseEstimator):
    """Base class of the estimators: parameters, training and pickling."""

    __signature__ = SignatureOfInit()  # otherwise that of `__new__`

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Check the names of the arguments."""
        names = cls._get_param_names()
        for name in kwargs:
            if name not in names:
                raise ValueError(
                    f"{cls.__name__} does not have an argument of this name."
                    f"{did_you_mean(name, names)} Received: {name}={kwargs[name]!r}"
                )
        return super().__new__(cls)

    def __init__(
        self,
        hidden: tuple[int, ...] = (100, 50),
        k: int = 3,
        g: Any = "silu",
        sharing: Any = "layer",
        initialization: Any = "g",
        learning_rate: float = 0.003,
        epochs: int = 200,
        batch_size: int | None = BATCH_SIZE,
        validation_fraction: float | None = 0.1,
        patience: int | None = PATIENCE,
        random_state: Any = None,
        activation: str = "vaf",
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
        self.activation = activation

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Args:
            X: Inputs of shape `(rows, inputs)`, as an array or a table of numbers.
            y: The class or the number to predict, of shape `(rows,)`. A regressor also
                takes several numbers, of shape `(rows, targets)`.
            sample_weight: The weight of each row in the loss, of shape `(rows,)`.
                `None` means 1 for all rows.

        Returns:
            The estimator.

        Raises:
            ValueError: If an argument is out of its range, if `X` has missing entries,
                if the numbers are too large for a standard deviation in float64, or if
                the loss is not finite after the first epoch.
        """
        return self._fit(X, y, sample_weight)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        more: bool = False,
        classes: Any = None,
    ) -> Self:
        """Train a new network or, if `more`, train the current network for one epoch.

        The first call with `more` makes a new network.
        """
        settings = self._settings()
        if more:
            settings = settings._replace(
                epochs=1, validation_fraction=None, patience=None
            )
        first = not (more and hasattr(self, "network_"))
        numbers = not _base.is_classifier(self)
        X, y = _checks.validate_data(
            self,
            X,
            y,
            reset=first,
            dtype=np.float64,
            y_numeric=numbers,
            multi_output=numbers,
        )
        outputs = self._count_outputs(y, classes) if first else 0
        X, targets, weights = _used(X, self._targets(y), sample_weight)
        if first:
            self._begin(X, outputs, settings)
        self._train(X, targets, weights, settings)
        return self

    def _count_outputs(self, y: np.ndarray, classes: Any) -> int:
        """Store facts about the first targets, and return the number of outputs.

        Args:
            y: The targets.
            classes: All classes, if they are known.
        """
        raise NotImplementedError(f"{type(self).__name__} must define it.")

    def _targets(self, y: np.ndarray) -> np.ndarray:
        """Return the targets as the network learns them."""
        raise NotImplementedError(f"{type(self).__name__} must define it.")

    def network_inputs(self, X: Any) -> np.ndarray:
        """Return the inputs of the network, scaled like the training rows.

        Args:
            X: Inputs, as in `predict`.

        Raises:
            ValueError: If an input is beyond the range of float32 after scaling.
        """
        _checks.check_is_fitted(self)
        X = _checks.validate_data(self, X, reset=False, dtype=np.float64)
        return self._scaled(X)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            scaled = ((X - self._center) / self._spread).astype(np.float32)
        _check_range(X, scaled)
        return scaled

    def _begin(self, X: np.ndarray, outputs: int, settings: Settings) -> None:
        """Fit the scaling, and make the network."""
        self._center, self._spread = center_and_spread("X", X)
        sharing = self.sharing
        self._architecture = Architecture(
            X.shape[1],
            outputs,
            check_sizes("hidden", self.hidden),
            self.k,
            self.g,
            tuple(sharing) if isinstance(sharing, list) else sharing,
            _base.is_classifier(self),
            self.activation,
        )
        self.network_ = self._architecture.build(self.initialization, settings.seed)

    def _train(
        self, X: np.ndarray, y: np.ndarray, weights: np.ndarray, settings: Settings
    ) -> None:
        self.history_ = fit_network(
            self.network_, self._architecture, self._scaled(X), y, weights, settings
        )
        if self.history_.best_epoch == 0:
            raise ValueError(
                "The loss was not finite after the first epoch. Try a lower "
                f"learning rate. Received: learning_rate={self.learning_rate!r}"
            )
        self.n_iter_ = self.history_.epochs

    def _settings(self) -> Settings:
        """Check the training options."""
        if not isinstance(self.activation, str):
            raise ValueError(
                "`activation` must be 'vaf' or the name of a fixed activation, such as "
                f"'relu'. Received: activation={self.activation!r}"
            )
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


def center_and_spread(name: str, values: np.ndarray) -> tuple[Any, Any]:
    """Return mean and standard deviation of each column; 1 for a constant column.

    Args:
        name: Name of the argument, for the error message.
        values: The numbers, with the rows first.

    Raises:
        ValueError: If a standard deviation is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        center, spread = values.mean(axis=0), values.std(axis=0)
    if not np.isfinite(spread).all():
        raise ValueError(
            f"`{name}` must hold numbers with a finite standard deviation in float64. "
            f"Received: numbers up to {np.abs(values).max():g}"
        )
    return center, np.where(spread > 0, spread, 1.0)


def _used(
    X: np.ndarray, y: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows whose weight is not 0, with their weights."""
    weights = _checks._check_sample_weight(sample_weight, X, dtype=np.float64)
    if weights.min() < 0:
        raise ValueError(
            "`sample_weight` must hold numbers of at least 0. "
            f"Received: weights from {weights.min()} to {weights.max()}"
        )
    used = weights != 0
    return X[used], y[used], weights[used]


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
