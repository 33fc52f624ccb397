"""`Preprocessing` and `FittedPreprocessing`, which prepare a dataset for a network.

A `Preprocessing` describes the steps. Its method `fit` computes the required statistics
from the training rows alone. It returns a `FittedPreprocessing`, which transforms any
rows and reverses the transformation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.scaling import Scale, Scaling, fit_scale
from keras_vaf.utils import check_choice

Missing = Literal["mean", "drop"]

MOST_CATEGORIES = 50
"""Largest number of categories of a column that get an input, by frequency."""

_NO_CATEGORY = -2  # keeps the number of inputs equal in all folds


@dataclass(frozen=True)
class Preprocessing:
    """Scaling of inputs and targets, and treatment of missing entries.

    From each column of numbers, and each channel of images, the mean is subtracted, and
    the rest is divided by the standard deviation. A column that is constant in the
    training rows becomes 0. A column of categories is replaced by one column of 0 and 1
    for each category of the training rows, for at most the 50 most frequent categories.
    For any other category, all of them are 0.

    Args:
        targets: Scaling of the targets of a regression: `"none"`, `"standard"` as for
            the inputs, or `"min-max"`, which maps the range to [0, 1].
        missing: `"mean"` replaces a missing number by the mean of its column, and a
            missing category by the most frequent one. `"drop"` removes rows with
            missing entries.

    Raises:
        ValueError: If an argument is not one of these.

    Example:

    >>> x = np.array([[1.0], [3.0], [9.0]], dtype="float32")
    >>> y = np.array([10, 20, 90], dtype="float32")
    >>> dataset = Dataset("line", "regression", x, y, ("a",))
    >>> fitted = Preprocessing(targets="min-max").fit(dataset, rows=[0, 1])
    >>> fitted.transform(dataset, rows=[2])
    (array([[7.]], dtype=float32), array([8.], dtype=float32))
    """

    targets: Scaling = "none"
    missing: Missing = "mean"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("targets", self.targets, get_args(Scaling))
        check_choice("missing", self.missing, get_args(Missing))

    def fit(self, dataset: Dataset, rows: Any) -> "FittedPreprocessing":
        """Compute the statistics of the training rows: indices, a mask or a slice.

        Raises:
            ValueError: If no row is left, or if the options scale the targets of a
                classification.
        """
        if dataset.task == "classification" and self.targets != "none":
            raise ValueError(
                "`targets` must be 'none' for classification. "
                f"Received: targets={self.targets!r} for dataset {dataset.name!r}"
            )
        x, y = self._select(dataset, rows)
        if len(x) == 0:
            raise ValueError(
                f"`rows` must contain a row of dataset {dataset.name!r} without "
                "missing entries. Received: no rows, or only rows with missing entries"
            )
        categories = {
            column: _most_frequent(x[:, column], len(names))
            for column, names in sorted(dataset.categories.items())
        }
        return FittedPreprocessing(
            self,
            input_scale=_fit_inputs(x, categories),
            target_scale=_fit_targets(y, self.targets),
            categories=categories,
        )

    def _select(self, dataset: Dataset, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        x, y = dataset.x[rows], dataset.y[rows]
        if self.missing == "mean":
            return x, y
        complete = ~np.isnan(x).any(axis=tuple(range(1, x.ndim)))
        return x[complete], y[complete]


@dataclass(frozen=True, eq=False)
class FittedPreprocessing:
    """A preprocessing with the statistics of the training rows, returned by `fit`.

    Args:
        preprocessing: The preprocessing that was fitted.
        input_scale: Scaling of the inputs, which leaves categories unchanged.
        target_scale: Scaling of the targets; `None` for class indices.
        categories: For each column of categories, the categories that get an input.
    """

    preprocessing: Preprocessing
    input_scale: Scale
    target_scale: Scale | None
    categories: Mapping[int, tuple[int, ...]]

    def transform(self, dataset: Dataset, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of a dataset (indices, mask, slice) as inputs and targets.

        Rows with missing entries are left out if the preprocessing drops them.
        """
        x, y = self.preprocessing._select(dataset, rows)
        return self.transform_inputs(x), self.transform_targets(y)

    def transform_inputs(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs of a network, with categories as one-hot columns."""
        scaled = self.input_scale.apply(x)
        if not self.categories:
            return scaled
        columns = [
            scaled[:, [column]] == np.array(self.categories[column])
            if column in self.categories
            else scaled[:, [column]]
            for column in range(scaled.shape[1])
        ]
        return np.concatenate(columns, axis=1, dtype=np.float32)

    def transform_targets(self, y: np.ndarray) -> np.ndarray:
        """Return the targets of a network. Class indices are not changed."""
        if self.target_scale is None:
            return y
        return self.target_scale.apply(y[:, None])[:, 0]

    def invert_targets(self, y: np.ndarray) -> np.ndarray:
        """Return targets, or outputs of a network, in the units of the dataset."""
        if self.target_scale is None:
            return y
        return self.target_scale.invert(y)


def _fit_inputs(x: np.ndarray, categories: Mapping[int, tuple[int, ...]]) -> Scale:
    scale = fit_scale(x, "standard")
    fill, center, spread = scale.fill.copy(), scale.center.copy(), scale.spread.copy()
    for column in categories:
        given = x[:, column]
        frequencies = np.bincount(given[~np.isnan(given)].astype(int), minlength=1)
        fill[column], center[column], spread[column] = frequencies.argmax(), 0.0, 1.0
    return Scale(fill, center, spread)


def _most_frequent(codes: np.ndarray, count: int) -> tuple[int, ...]:
    """Return the most frequent categories, the same number in every fold."""
    frequencies = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=count)
    order = np.sort(np.argsort(-frequencies, kind="stable")[:MOST_CATEGORIES])
    return tuple(int(n) if frequencies[n] else _NO_CATEGORY for n in order)


def _fit_targets(y: np.ndarray, scaling: Scaling) -> Scale | None:
    if y.dtype != np.float32:
        return None
    scale = fit_scale(y[:, None], scaling)
    # If the training targets are constant, outputs keep the units of the dataset.
    spread = np.where(scale.spread > 0, scale.spread, 1.0)
    return Scale(scale.fill, scale.center, spread)
