"""`Ratio`, a ratio of errors over datasets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keras_vaf.experiments.results.significance import wilcoxon
from keras_vaf.utils import require

TIE = 1e-9
"""Largest relative difference of two errors that count as equal."""


@dataclass(frozen=True)
class Ratio:
    """Ratios of two errors, one per dataset.

    Args:
        logs: Logarithms of the ratios. Ties are 0.
    """

    logs: np.ndarray

    @classmethod
    def of(cls, errors: Sequence[float], reference: Sequence[float]) -> Ratio:
        """Return the ratios of errors, dataset by dataset.

        Args:
            errors: Errors of an activation, above 0.
            reference: Errors of the other one.
        """
        logs = np.log(np.asarray(errors) / np.asarray(reference))
        return cls(np.where(np.abs(logs) < TIE, 0.0, logs))

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return math.exp(self.logs.mean())

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the t interval of the geometric mean.

        Args:
            confidence: Probability that such an interval contains the true mean.
        """
        t = require("scipy.stats", extra="experiments").t(len(self.logs) - 1)
        half = t.isf((1 - confidence) / 2) * self.logs.std(ddof=1)
        middle, half = self.logs.mean(), half / math.sqrt(len(self.logs))
        return math.exp(middle - half), math.exp(middle + half)

    def is_within(self, bound: float) -> bool:
        """Tell whether the means are equivalent: the 90 % interval is within a bound.

        Args:
            bound: The bound, such as 0.03 for 3 %.
        """
        low, high = self.interval(0.9)
        return 1 - bound <= low and high <= 1 + bound

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of datasets with a smaller error, a larger error and a tie."""
        better, worse = int((self.logs < 0).sum()), int((self.logs > 0).sum())
        return better, worse, len(self.logs) - better - worse

    @property
    def p(self) -> float:
        """The p-value of Wilcoxon's signed-rank test."""
        return wilcoxon(self.logs.tolist())

    def cells(self) -> list[str]:
        """Return mean, interval, counts and p-value as cells of a table."""
        low, high = self.interval()
        better, worse, ties = self.counts
        counts = f"{better} : {worse}" + (f", {ties} tied" if ties else "")
        return [f"{self.mean:.3f}", f"{low:.3f} to {high:.3f}", counts, f"{self.p:.4f}"]
