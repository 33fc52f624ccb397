"""`Ratio`, the ratios of two activations' errors over several datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keras_vaf.experiments.reports.report import TIE
from keras_vaf.experiments.results.significance import wilcoxon
from keras_vaf.utils import require


@dataclass(frozen=True)
class Ratio:
    """Ratios of two errors, one per dataset.

    Attributes:
        logs: Logarithms of the ratios. Ties are 0.
    """

    logs: np.ndarray

    @classmethod
    def of(cls, errors: Sequence[float], reference: Sequence[float]) -> Ratio:
        """Return the ratios of errors, dataset by dataset.

        Args:
            errors: Errors of an activation, at least 0. Datasets on which one of the
                two makes no error are left out.
            reference: Errors of the other one.
        """
        own, other = np.asarray(errors), np.asarray(reference)
        kept = np.minimum(own, other) > 0
        logs = np.log(own[kept] / other[kept])
        return cls(np.where(np.abs(logs) < TIE, 0.0, logs))

    @property
    def mean(self) -> float:
        """The geometric mean, or NaN without datasets; below 1, the first is better."""
        return math.exp(self.logs.mean()) if len(self.logs) else math.nan

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the t interval of the geometric mean; NaN for fewer than two datasets.

        Args:
            confidence: Probability that such an interval contains the true mean.
        """
        if len(self.logs) < 2:
            return math.nan, math.nan
        t = require("scipy.stats", extra="experiments").t(len(self.logs) - 1)
        half = t.isf((1 - confidence) / 2) * self.logs.std(ddof=1)
        middle, half = self.logs.mean(), half / math.sqrt(len(self.logs))
        return math.exp(middle - half), math.exp(middle + half)

    def text(self, digits: int = 2) -> str:
        """Return mean and 95 % interval, such as `"0.97 (0.93 to 1.02)"`.

        Args:
            digits: Number of decimals.
        """
        low, high = (f"{each:.{digits}f}" for each in self.interval())
        interval = f" ({low} to {high})" if len(self.logs) > 1 else ""
        return f"{self.mean:.{digits}f}{interval}"

    @property
    def p(self) -> float:
        """The p-value of Wilcoxon's signed-rank test on the logarithms."""
        return wilcoxon(self.logs.tolist())
