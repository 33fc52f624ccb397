"""`reference_protocols`, models without activations that show what is possible."""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from keras_vaf.datasets import Dataset, FittedPreprocessing
from keras_vaf.datasets.scores import baseline_scores, class_scores, regression_scores
from keras_vaf.experiments.optimizer import REFERENCE, Optimizer
from keras_vaf.experiments.protocol import Architecture, Cell, Protocol
from keras_vaf.experiments.reports.report import Report, Trial, environment
from keras_vaf.experiments.runs.rows import rows_of, seeds_of
from keras_vaf.experiments.variants import Variant
from keras_vaf.utils import require

LINEAR = {"classification": "logistic regression", "regression": "ridge regression"}
"""Titles of the linear model, by task."""

TREES = "gradient boosted trees"
"""Title of scikit-learn's histogram gradient boosting."""

_MOST_CATEGORIES = 255  # of a column, for scikit-learn's trees
_FEW_ROWS = 10_000  # of fewer rows, threads wait for each other
_ITERATIONS = 1_000  # of logistic regression


def reference_protocols(protocol: Protocol) -> list[Protocol]:
    """Return the protocols of the references, on the folds of a protocol.

    The references are a linear model and gradient boosted trees of scikit-learn, with
    their default settings. They are fitted on the training rows of the networks, and do
    not use the validation rows.

    Args:
        protocol: A protocol of a network.
    """
    titles = {"linear": LINEAR[protocol.task], "trees": TREES}
    return [
        dataclasses.replace(
            protocol,
            variant=Variant(name, title, ""),
            architecture=Architecture(name),
            hidden=(),
            optimizer=Optimizer(REFERENCE),
            rates=(),
            epochs=1,
            patience=None,
            batch_size=None,
            replicas=1,
            starts=1,
        )
        for name, title in titles.items()
    ]


def train_reference(cell: Cell, dataset: Dataset) -> Report:
    """Fit the reference of a cell, and report on it.

    Args:
        cell: A cell of a protocol from `reference_protocols`.
        dataset: The data of the protocol, a table.

    Raises:
        ImportError: If scikit-learn is not installed.
    """
    protocol = cell.protocol
    rows = rows_of(cell, dataset)
    fitted = protocol.preprocessing.fit(dataset, rows.train)
    started = time.perf_counter()
    fit = _FIT[protocol.architecture.name]
    if len(np.unique(dataset.y[rows.train])) == 1:
        fit = _fit_constant
    [seed] = seeds_of(cell, "trees")
    predict, parameters = fit(dataset, fitted, rows.train, seed)
    seconds = time.perf_counter() - started

    def score(part: np.ndarray) -> dict[str, float]:
        if dataset.task == "classification":
            return class_scores(dataset.y[part], predict(part))
        return regression_scores(dataset.y[part], predict(part)[:, None], fitted)

    trial = Trial(
        rate=None,
        scores=score(rows.test),
        validation={"loss": None, **score(rows.validation)},
        epochs=1,
        best_epoch=1,
        stopped="epochs",
    )
    return Report(
        protocol=protocol,
        seed=cell.seed,
        fold=cell.fold,
        rows={name: len(part) for name, part in rows._asdict().items()},
        trials=(trial,),
        baseline=baseline_scores(dataset, fitted, rows),
        parameters=parameters,
        seconds=round(seconds, 3),
        curves={},
        activations=[],
        environment=_environment(),
        flops=0,
    )


Fitted = tuple[Callable[[np.ndarray], np.ndarray], int]


def _fit_linear(
    dataset: Dataset, fitted: FittedPreprocessing, train: np.ndarray, seed: int
) -> Fitted:
    """Return the predictions of a linear model, and its number of parameters."""
    linear: Any = require("sklearn.linear_model", extra="experiments")
    classes = dataset.task == "classification"
    model = linear.LogisticRegression(max_iter=_ITERATIONS) if classes else None
    model = model or linear.Ridge()
    x, y = fitted.transform(dataset, train)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit may not have converged
        model.fit(x, np.ravel(y))
    return (
        lambda rows: model.predict(fitted.transform_inputs(dataset.x[rows])),
        int(model.coef_.size + np.size(model.intercept_)),
    )


def _fit_trees(
    dataset: Dataset, fitted: FittedPreprocessing, train: np.ndarray, seed: int
) -> Fitted:
    """Return the predictions of trees, which read raw columns and missing entries."""
    ensemble: Any = require("sklearn.ensemble", extra="experiments")
    kind = "Classifier" if dataset.task == "classification" else "Regressor"
    categories = [
        place
        for place, names in dataset.categories.items()
        if len(names) < _MOST_CATEGORIES
    ]
    model = getattr(ensemble, f"HistGradientBoosting{kind}")(
        categorical_features=categories or None,
        early_stopping=False,
        random_state=seed,
    )
    threads = require("threadpoolctl", extra="experiments").threadpool_limits
    with threads(1 if len(train) < _FEW_ROWS else None):
        model.fit(dataset.x[train], fitted.transform_targets(dataset.y[train]))
    return lambda rows: model.predict(dataset.x[rows]), 0


def _fit_constant(
    dataset: Dataset, fitted: FittedPreprocessing, train: np.ndarray, seed: int
) -> Fitted:
    """Return the predictions if all training rows have the same target."""
    [y] = np.unique(fitted.transform_targets(dataset.y[train]))
    return lambda rows: np.full(len(rows), y), 1


_FIT = {"linear": _fit_linear, "trees": _fit_trees}


def _environment() -> dict[str, Any]:
    found = environment()
    version = require("sklearn", extra="experiments").__version__
    versions = {**found["versions"], "scikit-learn": version}
    return {**found, "versions": versions, "device": "cpu:0"}
