"""`Answer`, what came out of a registered comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from scipy import stats

from keras_vaf.experiments.results.significance import holm

Records = Iterable[dict[str, Any]]


@dataclass(frozen=True)
class Answer:
    """What came out of a registered comparison.

    Args:
        name: The comparison, and its part where it has parts.
        estimate: The ratio or the difference that the comparison is about.
        interval: Its 95 % interval.
        p: The p-value, not corrected.
        confirmed: Whether the rule for "confirmed" holds, but for the p-value.
        refuted: Whether the rule for "refuted" holds.
        corrected: The p-value after Holm's correction.
        needs_p: Whether "confirmed" needs a corrected p-value below 0.05.
    """

    name: str
    estimate: float
    interval: tuple[float, float]
    p: float
    confirmed: bool
    refuted: bool
    corrected: float = 1.0
    needs_p: bool = True

    @property
    def text(self) -> str:
        """The answer in words."""
        if self.confirmed and (self.corrected < 0.05 or not self.needs_p):
            return "confirmed"
        return "refuted" if self.refuted else "cannot tell"

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        if math.isnan(self.estimate):
            return [self.name, "", "", "", "", self.text]
        low, high = self.interval
        p = [f"{self.p:.4f}", f"{self.corrected:.4f}"] if self.needs_p else ["", ""]
        numbers = [f"{self.estimate:.3f}", f"{low:.3f} to {high:.3f}"]
        return [self.name, *numbers, *p, self.text]


def overall(name: str, confirmed: bool, refuted: bool) -> Answer:
    """Return the answer of a comparison that has several parts, without numbers."""
    nan = math.nan
    return Answer(name, nan, (nan, nan), nan, confirmed, refuted, needs_p=False)


def paired(name: str, differences: pd.Series) -> Answer:
    """Return mean, interval and p-value of a paired t-test over seeds.

    Args:
        name: Name of the comparison.
        differences: One difference for each seed.
    """
    mean, error = differences.mean(), stats.sem(differences)
    low, high = stats.t.interval(0.95, len(differences) - 1, mean, error)
    p = stats.ttest_1samp(differences, 0).pvalue
    return Answer(name, mean, (low, high), p, False, False)


def corrected(answers: Sequence[Answer], tests: int = 0) -> list[Answer]:
    """Return answers with Holm's correction.

    Args:
        answers: The answers of a family.
        tests: Number of tests in the family, if some have no answer yet.
    """
    missing = max(0, tests - len(answers))
    values = holm([each.p for each in answers] + [1.0] * missing)
    pairs = zip(answers, values[: len(answers)], strict=True)
    return [replace(each, corrected=value) for each, value in pairs]
