"""`Preprocessing` and `FittedPreprocessing`, which prepare a dataset for a network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.utils import check_choice

Scaling = Literal["none", "min-max", "standard"]

MOST_CATEGORIES = 50  # of a column that get an input, by frequency
_NO_CATEGORY = -2  # keeps the number of inputs equal in all folds
_BLOCK = 4096  # rows at once, which avoids a float64 copy of all images


@dataclass(frozen=True)
class Preprocessing:
    """Scaling of inputs and targets by statistics of the training rows alone.

    From each column of numbers, and each channel of images, the mean is subtracted, and
    the rest is divided by the standard deviation. A constant column becomes 0. A column
    of categories is replaced by one column of 0 and 1 for each of the at most 50 most
    frequent categories of the training rows. All are 0 for any other category. A
    missing entry is replaced by the mean, or by the most frequent category.

    Args:
        targets: Scaling of the targets of a regression: `"none"`, `"standard"` as for
            the inputs, or `"min-max"`, which maps the range to [0, 1].

    Raises:
        ValueError: If `targets` is not one of these.

    Example:

    >>> x = np.array([[1.0], [3.0], [9.0]], dtype="float32")
    >>> y = np.array([10, 20, 90], dtype="float32")
    >>> dataset = Dataset("line", "regression", x, y, ("a",))
    >>> fitted = Preprocessing(targets="min-max").fit(dataset, rows=[0, 1])
    >>> fitted.transform(dataset, rows=[2])
    (array([[7.]], dtype=float32), array([8.], dtype=float32))
    """

    targets: Scaling = "none"

    def __post_init__(self) -> None:
        """Check the scaling."""
        check_choice("targets", self.targets, get_args(Scaling))

    def fit(self, dataset: Dataset, rows: Any) -> "FittedPreprocessing":
        """Compute the statistics of the training rows: indices, a mask or a slice.

        Raises:
            ValueError: If `rows` is empty, or if the targets of a classification would
                be scaled.
        """
        x, y = dataset.x[rows], dataset.y[rows]
        regression = dataset.task == "regression"
        if not regression and self.targets != "none":
            raise ValueError(
                "`targets` must be 'none' for classification. "
                f"Received: targets={self.targets!r} for dataset {dataset.name!r}"
            )
        if len(x) == 0:
            raise ValueError("`rows` must contain a row. Received: no rows")
        inputs, categories = _fit_scale(x, "standard"), {}
        for column, names in sorted(dataset.categories.items()):
            codes = x[~np.isnan(x[:, column]), column].astype(int)
            counts = np.bincount(codes, minlength=len(names))
            inputs.fill[column] = counts.argmax()
            inputs.center[column], inputs.spread[column] = 0.0, 1.0
            # The same number of categories in every fold.
            order = np.sort(np.argsort(-counts, kind="stable")[:MOST_CATEGORIES])
            kept = (int(n) if counts[n] else _NO_CATEGORY for n in order)
            categories[column] = tuple(kept)
        targets = _fit_scale(y[:, None], self.targets) if regression else None
        if targets is not None and targets.spread[0] == 0:
            targets.spread[0] = 1.0  # outputs keep the units of the dataset
        return FittedPreprocessing(self.targets, inputs, targets, categories)


@dataclass(frozen=True, eq=False)
class Scale:
    """Maps values to `(value - center) / spread`, column by column."""

    fill: np.ndarray  # replaces a missing entry
    center: np.ndarray
    spread: np.ndarray  # A column with spread 0 becomes 0.

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Fill in the missing entries and scale the values."""
        scaled = np.zeros(values.shape, np.float32)
        for block, out in zip(_blocks(values), _blocks(scaled), strict=True):
            shifted = np.where(np.isnan(block), self.fill, block) - self.center
            np.divide(
                shifted, self.spread, out=out, where=self.spread > 0, casting="unsafe"
            )
        return scaled

    def invert(self, values: np.ndarray) -> np.ndarray:
        """Undo `apply`. A missing entry keeps the value that replaced it."""
        return values * self.spread + self.center


@dataclass(frozen=True, eq=False)
class FittedPreprocessing:
    """A preprocessing with the statistics of the training rows, returned by `fit`.

    Args:
        targets: Scaling of the targets, as in `Preprocessing`.
        input_scale: Scaling of the inputs, which leaves categories unchanged.
        target_scale: Scaling of the targets; `None` for class indices.
        categories: For each column of categories, the categories that get an input.
    """

    targets: Scaling
    input_scale: Scale
    target_scale: Scale | None
    categories: Mapping[int, tuple[int, ...]]

    def transform(self, dataset: Dataset, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of a dataset (indices, mask, slice) as inputs and targets."""
        inputs = self.transform_inputs(dataset.x[rows])
        return inputs, self.transform_targets(dataset.y[rows])

    def transform_inputs(self, x: np.ndarray) -> np.ndarray:
        """Return the inputs of a network, with categories as one-hot columns."""
        scaled = self.input_scale.apply(x)
        if not self.categories:
            return scaled
        columns = np.split(scaled, scaled.shape[1], axis=1)
        for column, kept in self.categories.items():
            columns[column] = columns[column] == np.array(kept)
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


def _fit_scale(values: np.ndarray, scaling: Scaling) -> Scale:
    """Compute the statistics of each column (last axis) over all other axes."""
    axes = tuple(range(values.ndim - 1))
    total, squares = np.zeros((2, values.shape[-1]))
    for block in _blocks(values):
        total += np.sum(block, axes, np.float64, where=~np.isnan(block))
    count = np.maximum(np.count_nonzero(~np.isnan(values), axes), 1)
    mean = total / count
    if scaling == "none":
        return Scale(mean, np.zeros(len(mean)), np.ones(len(mean)))
    low, high = (f.reduce(values, axes).astype(float) for f in (np.fmin, np.fmax))
    if scaling == "min-max":
        return Scale(mean, low, high - low)
    for block in _blocks(values):
        squares += np.sum((block - mean) ** 2, axes, where=~np.isnan(block))
    spread = np.where(low < high, np.sqrt(squares / count), 0.0)
    return Scale(mean, mean.copy(), spread)


def offset_of(values: np.ndarray) -> float:
    """Return 0, or the middle number if float32 rounds by a sixteenth of the gaps."""
    found = np.unique(values[~np.isnan(values)])
    both = (found, found - found[len(found) // 2])
    error, left = (np.median(np.abs(v - v.astype(np.float32))) for v in both)
    much = len(found) > 1 and error > max(np.median(np.diff(found)) / 16, 2 * left)
    return float(found[len(found) // 2]) if much else 0.0


def _blocks(values: np.ndarray) -> list[np.ndarray]:
    return np.split(values, range(_BLOCK, len(values), _BLOCK))
