"""`fit_reference`, a linear model or boosted trees on the same folds."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from keras_vaf.datasets.scores import class_scores, regression_scores
from keras_vaf.experiments.arms import Arm
from keras_vaf.experiments.recipe import Fold
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import require

_LINEAR = {"classification": "logistic regression", "regression": "ridge regression"}
_MOST_CATEGORIES = 255  # of a column, for scikit-learn's trees
_FEW_ROWS = 10_000  # of fewer rows, threads wait for each other


def references(task: str) -> tuple[Arm, ...]:
    """Return a linear model and gradient boosted trees of scikit-learn, as arms.

    They have their default settings, and do not use the validation rows.
    """
    linear = Arm("linear", _LINEAR[task], "")
    return linear, Arm("trees", "gradient boosted trees", "")


def fit_reference(fold: Fold, arm: Arm) -> dict[str, Any]:
    """Fit one of the `references` on a fold, and return its record."""
    dataset, fitted, started = fold.dataset, fold.fitted, time.perf_counter()
    x, y = dataset.x, np.ravel(fitted.transform_targets(dataset.y[fold.rows.train]))
    if arm.name == "linear":
        x = fitted.transform_inputs(x)
    if len(np.unique(y)) == 1:
        predicted = np.full(len(x), y[0])
    else:
        limits = require("threadpoolctl", extra="experiments").threadpool_limits
        with warnings.catch_warnings(), limits(1 if len(y) < _FEW_ROWS else None):
            warnings.simplefilter("ignore")  # the fit may not have converged
            predicted = _model(fold, arm.name).fit(x[fold.rows.train], y).predict(x)

    def score(rows: np.ndarray) -> float:
        if dataset.task == "classification":
            return class_scores(dataset.y[rows], predicted[rows])["accuracy"]
        return regression_scores(dataset.y[rows], predicted[rows, None], fitted)["rmse"]

    return {
        **fold.record(),
        "validation": score(fold.rows.validation),
        "test": score(fold.rows.test),
        "seconds": round(time.perf_counter() - started, 3),
    }


def _model(fold: Fold, name: str) -> Any:
    """Return an untrained model. Trees read raw columns and missing entries."""
    classes = fold.dataset.task == "classification"
    if name == "linear":
        linear: Any = require("sklearn.linear_model", extra="experiments")
        return linear.LogisticRegression(max_iter=1_000) if classes else linear.Ridge()
    ensemble = require("sklearn.ensemble", extra="experiments")
    names = fold.dataset.categories
    categories = [place for place in names if len(names[place]) < _MOST_CATEGORIES]
    [seed] = independent_seeds(fold.seed, fold.number, "trees")
    kind = "Classifier" if classes else "Regressor"
    return getattr(ensemble, f"HistGradientBoosting{kind}")(
        categorical_features=categories or None,
        early_stopping=False,
        random_state=seed,
    )
