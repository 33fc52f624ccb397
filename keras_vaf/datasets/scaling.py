"""`fit_scale`, which computes the statistics and the scaling of columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

Scaling = Literal["none", "min-max", "standard"]

_BLOCK = 4096  # rows at once, which avoids a float64 copy of all images


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
        return (values * self.spread + self.center).astype(np.float32)


def fit_scale(values: np.ndarray, scaling: Scaling) -> Scale:
    """Compute the statistics of each column (last axis) over all other axes.

    A constant column has spread 0 unless `scaling` is `"none"`.
    """
    axes, columns = tuple(range(values.ndim - 1)), values.shape[-1]
    count, total, squares = np.zeros(columns), np.zeros(columns), np.zeros(columns)
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    for block in _blocks(values):
        observed = ~np.isnan(block)
        count += observed.sum(axes)
        total += np.sum(block, axes, np.float64, where=observed)
        low = np.minimum(low, np.min(block, axes, where=observed, initial=np.inf))
        high = np.maximum(high, np.max(block, axes, where=observed, initial=-np.inf))
    count = np.maximum(count, 1)
    mean = total / count
    if scaling == "none":
        return Scale(mean, np.zeros(columns), np.ones(columns))
    # Bounds detect a constant column, because rounding can make its deviation nonzero.
    # A column without entries has infinite bounds and counts as constant.
    constant = low >= high
    low = np.where(np.isfinite(low), low, 0.0)
    if scaling == "min-max":
        return Scale(mean, low, np.where(constant, 0.0, high - low))
    for block in _blocks(values):
        squares += np.sum((block - mean) ** 2, axes, where=~np.isnan(block))
    return Scale(mean, mean.copy(), np.where(constant, 0.0, np.sqrt(squares / count)))


def _blocks(values: np.ndarray) -> Iterator[np.ndarray]:
    return (values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK))
