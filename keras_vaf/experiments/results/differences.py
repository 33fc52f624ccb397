"""`difference`, the sentence on how an activation differs from the reference."""

from __future__ import annotations

from collections.abc import Sequence

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.significance import holm
from keras_vaf.utils import readable


def corrected_p(results: Sequence[Result]) -> list[float | None]:
    """Return the p-values of results with Holm's correction.

    Args:
        results: The results of one comparison.

    Returns:
        The corrected p-value of each result; `None` for a result without a p-value,
        such as the reference.
    """
    given = [result.p for result in results]
    corrected = iter(holm([p for p in given if p is not None]))
    return [None if p is None else next(corrected) for p in given]


def difference(result: Result, p: float) -> str:
    """Return how a result differs from its reference, as a part of a sentence.

    Args:
        result: The result.
        p: Its corrected p-value.
    """
    gain, half = result.gain, result.interval or 0.0
    higher = (gain > 0) == (result.metric == "accuracy")
    numbers = abs(gain), abs(gain) - half, abs(gain) + half
    size, low, high = map(readable, numbers)
    reference = result.reference.protocol.variant.title if result.reference else ""
    return (
        f"{result.direction} than {reference} ({metric_word(result.metric)} "
        f"{'higher' if higher else 'lower'} by {size}, 95% interval {low} to {high}, "
        f"corrected p {p_value(p)})"
    )


def metric_word(metric: str) -> str:
    """Return the name of a metric within a sentence."""
    return {"accuracy": "accuracy", "rmse": "RMSE"}[metric]


def folds_of(reports: Sequence[Report]) -> str:
    """Return the number of folds and seeds as a part of a sentence.

    Args:
        reports: The reports of a comparison.
    """
    seeds = len({report.seed for report in reports})
    folds = len({report.fold for report in reports})
    words = f"these {folds} folds" if folds > 1 else "this fold"
    return words + (f" of {seeds} seeds" if seeds > 1 else "")
