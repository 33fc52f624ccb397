"""`Estimate`: a mean or a ratio with its interval, and the tests that give it."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from pandas import Series
from scipy import stats

from benchmarks.recompute.records import Names


class Estimate(NamedTuple):
    """A mean or a ratio, its interval and p-value, and signs of the differences."""

    mean: float
    low: float
    high: float
    p: float
    below: int
    above: int
    ties: int

    def exp(self) -> "Estimate":
        return Estimate._make([*np.exp(self[:3]), *self[3:]])

    def text(self, form: str = ".2f") -> str:
        # "z" writes what is rounded to -0 as 0.
        return "{:z%s} ({:z%s} to {:z%s})".replace("%s", form).format(*self[:3])

    def cells(self) -> Names:
        return [f"{self.mean:.3f}", f"{self.low:.3f} to {self.high:.3f}"]


def t_test(values: Series, overlap: float = 0) -> Estimate:
    """Return a mean with its t-test; `overlap` is the share of rows that folds test."""
    n, mean = len(values), values.mean()
    error = np.sqrt((1 / n + overlap / (1 - overlap)) * values.var())
    half = stats.t.isf(0.025, n - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n - 1) if error else float(mean == 0)
    signs = [int((np.sign(values) == sign).sum()) for sign in (-1, 1, 0)]
    return Estimate(mean, mean - half, mean + half, p, *signs)


def ratio(own: Series, other: Series) -> Estimate:
    """Return the ratio of errors over datasets, with Wilcoxon's p-value."""
    logs = np.log(own / other).dropna()
    logs = logs.where(logs.abs() >= 1e-9, 0.0)  # equal but for rounding
    p = stats.wilcoxon(logs).pvalue if logs.any() else 1.0
    return t_test(logs)._replace(p=p).exp()


def seed_ratio(own: Series, other: Series, overlap: float = 0) -> Estimate:
    return t_test(np.log(own / other), overlap).exp()


def holm(values: Iterable[float]) -> list[float]:
    p = Series(list(values)).sort_values()
    return (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1).sort_index().to_list()


def is_within(e: Estimate, bound: float) -> bool:
    """Tell whether the 90 % interval of a ratio over datasets is within a bound."""
    freedom = e.below + e.above + e.ties - 1
    share = stats.t.isf(0.05, freedom) / stats.t.isf(0.025, freedom)
    low, high = e.mean * (e.low / e.mean) ** share, e.mean * (e.high / e.mean) ** share
    return low >= 1 - bound and high <= 1 + bound


def words(confirmed: bool, refuted: bool) -> str:
    return "confirmed" if confirmed else "refuted" if refuted else "cannot tell"
