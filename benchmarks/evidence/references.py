"""`REFERENCES`, regressions that are not networks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np


def constant(x: np.ndarray, y: np.ndarray, x_test: Any, y_test: Any) -> dict[str, Any]:
    """Predict the mean of the training rows, validation rows left out."""
    return _score(np.full(len(y_test), y.mean()), y_test)


def linear(
    x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    """Fit a linear regression by least squares."""
    ones = np.ones((len(x), 1))
    weights = np.linalg.lstsq(np.hstack([x, ones]), y, rcond=None)[0]
    return _score(np.hstack([x_test, np.ones((len(x_test), 1))]) @ weights, y_test)


def boosting(
    x: np.ndarray, y: np.ndarray, x_test: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    """Fit scikit-learn's `HistGradientBoostingRegressor` with its defaults."""
    ensemble = import_module("sklearn.ensemble")
    model = ensemble.HistGradientBoostingRegressor(random_state=0).fit(x, y)
    return _score(model.predict(x_test), y_test)


REFERENCES: dict[str, Callable[..., dict[str, Any]]] = {
    "constant": constant,
    "linear": linear,
    "boosting": boosting,
}


def _score(predictions: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    return {"test": float(np.sqrt(np.mean((predictions - y) ** 2)))}
