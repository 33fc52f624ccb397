"""`VAFEstimator`, the base class of the scikit-learn estimators."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Self

import keras
import numpy as np

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.ops.functions import get_function
from keras_vaf.training import recipe, split, train
from keras_vaf.training.data import loss_of
from keras_vaf.utils import check_kind, check_number, check_positive, require

_base: Any = require("sklearn.base", extra="sklearn")
_utils: Any = require("sklearn.utils", extra="sklearn")
_validation: Any = require("sklearn.utils.validation", extra="sklearn")

_FEWEST_ROWS = 10  # fewer rows are not split
_ROWS_AT_ONCE = 4096
_MOST_CELLS = 2**27  # of a sparse matrix: 1 GiB once its zeros are stored


class VAFEstimator(_base.BaseEstimator):
    """Base class of the estimators: parameters, training, outputs."""

    def __init__(
        self,
        hidden: tuple[int, ...] = (100, 50),
        k: int = 3,
        g: Any = "silu",
        sharing: Any = "layer",
        initialization: Any = "g",
        learning_rate: float = 0.003,
        epochs: int = 200,
        batch_size: int | None = recipe.BATCH_SIZE,
        validation_fraction: float | None = 0.1,
        patience: int | None = recipe.PATIENCE,
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

    def __sklearn_tags__(self) -> Any:
        """Accept sparse inputs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Args:
            X: Inputs of shape `(rows, inputs)`: an array, a table of numbers, or a
                sparse matrix of at most 2^27 cells, the zeros included.
            y: The class or the number to predict, of shape `(rows,)`. A regressor also
                takes several numbers, of shape `(rows, targets)`.
            sample_weight: The weight of each row in the loss and in the scaling, of
                shape `(rows,)`. A row of weight 0 has no part in anything. `None`
                means 1 for all rows.

        Raises:
            ValueError: If an argument is out of its range, if `X` has missing entries
                or too large numbers, or if the first epoch has no finite loss.
        """
        # The layer and the training check the other arguments.
        check_kind("activation", self.activation, str)
        check_positive("learning_rate", self.learning_rate)
        if (fraction := self.validation_fraction) is not None:
            check_number("validation_fraction", fraction, above=0, below=1)
        numbers = not _base.is_classifier(self)
        X, y = _validation.validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=np.float64,
            y_numeric=numbers,
            multi_output=numbers,
        )
        weights = _validation._check_sample_weight(sample_weight, X, dtype=np.float64)
        used = weights > 0
        if weights.min() < 0 or not used.any():
            raise ValueError(
                "`sample_weight` must hold numbers of at least 0, and one above 0. "
                f"Received: weights from {weights.min()} to {weights.max()}"
            )
        weights = weights[used] / weights.max()  # whose sum is finite
        X, y, weights = dense(X)[used], y[used], weights / weights.mean()
        self._center, self._spread = center_and_spread("X", X, weights)
        targets, outputs = self._encode(y, weights)
        self._train(self._scaled(X), targets, weights, outputs)
        return self

    _encode: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, int]]
    """Returns the targets as the network learns them, and the number of outputs."""

    def _train(
        self, x: np.ndarray, y: np.ndarray, weights: np.ndarray, outputs: int
    ) -> None:
        seed = int(_utils.check_random_state(self.random_state).randint(2**31 - 1))
        classes = _base.is_classifier(self)
        rows = validation = np.arange(len(x))
        if self.validation_fraction is not None and len(x) >= _FEWEST_ROWS:
            try:
                rows, validation = split(y, self.validation_fraction, seed, classes)
            except ValueError:  # too few rows of a class
                rows, validation = split(y, self.validation_fraction, seed, False)
        self.network_ = self._network(x.shape[1], outputs, seed)
        optimizer = keras.optimizers.Adam(self.learning_rate)
        self.network_.compile(optimizer, loss_of(classes))
        self.history_ = train(
            self.network_,
            x[rows],
            y[rows],
            (x[validation], y[validation], weights[validation]),
            self.epochs,
            self.batch_size,
            self.patience,
            seed=seed,
            sample_weight=weights[rows],
        )
        if self.history_.best_epoch == 0:
            raise ValueError(
                "The loss was not finite after the first epoch. Try a lower "
                f"learning rate. Received: learning_rate={self.learning_rate!r}"
            )
        self.n_iter_ = self.history_.epochs

    def _network(self, inputs: int, outputs: int, seed: int) -> keras.Sequential:
        seeds = itertools.count(seed)
        axes = isinstance(self.sharing, list)
        sharing = tuple(self.sharing) if axes else self.sharing

        def activation() -> keras.layers.Layer:
            if self.activation != "vaf":
                function = get_function(self.activation, "activation", others=("vaf",))
                return keras.layers.Activation(function)
            start = self.initialization
            if isinstance(start, str) and start == "random":
                start = RandomStart(seed=next(seeds))
            return VAFActivation(self.k, self.g, sharing, start)

        return mlp(inputs, self.hidden, outputs, activation, seed=seed)

    def network_inputs(self, X: Any) -> np.ndarray:
        """Return inputs as for `predict`, scaled like the training rows."""
        _validation.check_is_fitted(self)
        X = _validation.validate_data(
            self, X, accept_sparse="csr", reset=False, dtype=np.float64
        )
        return self._scaled(dense(X))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            scaled = ((X - self._center) / self._spread).astype(keras.config.floatx())
        wrong = ~np.isfinite(scaled).all(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                "The inputs must be near enough to the training rows that "
                f"{scaled.dtype} holds their multiples of the standard deviation. "
                f"Received: row {row} with the largest value {np.abs(X[row]).max():g}"
            )
        return scaled

    def _outputs(self, X: Any) -> np.ndarray:
        x = self.network_inputs(X)
        parts = [
            keras.ops.convert_to_numpy(self.network_(rows, training=False))
            for rows in np.split(x, range(_ROWS_AT_ONCE, len(x), _ROWS_AT_ONCE))
        ]
        return np.concatenate(parts).astype(np.float64)


def dense(X: Any) -> np.ndarray:
    """Return inputs as an array, or refuse a large sparse matrix."""
    if not hasattr(X, "toarray"):
        return X
    if math.prod(X.shape) > _MOST_CELLS:
        raise ValueError(
            f"A sparse matrix must have at most {_MOST_CELLS} cells, since the network "
            "needs all of them: use fewer categories, for example "
            "`OneHotEncoder(max_categories=50, sparse_output=False)`. "
            f"Received: X of shape {X.shape}"
        )
    return X.toarray()


def center_and_spread(
    name: str, values: np.ndarray, weights: np.ndarray
) -> tuple[Any, Any]:
    """Return mean and standard deviation of each column; 1 for a constant column."""
    with np.errstate(over="ignore", invalid="ignore"):
        center = np.average(values, axis=0, weights=weights)
        spread = np.sqrt(np.average((values - center) ** 2, axis=0, weights=weights))
    if not np.isfinite(spread).all():
        raise ValueError(
            f"`{name}` must hold numbers with a finite standard deviation in float64. "
            f"Received: numbers up to {np.abs(values).max():g}"
        )
    constant = values.min(axis=0) == values.max(axis=0)
    return center, np.where(constant | (spread == 0), 1.0, spread)
