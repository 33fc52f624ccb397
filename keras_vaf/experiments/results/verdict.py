"""`verdict`, a sentence on which activations of a comparison differ."""

from __future__ import annotations

from collections.abc import Sequence

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Result, results_of
from keras_vaf.experiments.results.significance import LEVEL, holm
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


def verdict(reports: Sequence[Report]) -> str:
    """Return the result of a comparison as a sentence.

    Args:
        reports: The reports of a comparison, as for `results_of`.
    """
    results = results_of(reports)
    first, others = results[0], results[1:]
    folds = folds_of(reports)
    if not others:
        return f"Only {first.title} was trained, so there is nothing to compare."
    pairs = list(zip(results, corrected_p(results), strict=True))[1:]
    tested = [(result, p) for result, p in pairs if p is not None]
    if not tested:
        return "One fold shows no difference beyond chance: use more folds or seeds."
    found = [
        f"{result.title} is {difference(result, p)}"
        for result, p in tested
        if p < LEVEL
    ]
    if found:
        return f"Beyond chance on {folds}: {'; '.join(found)}."
    least = p_value(min(p for _, p in tested))
    if len(tested) == 1:
        subject = f"{tested[0][0].title} does not differ"
    else:
        subject = "No activation differs"
    return (
        f"{subject} from {first.title} beyond chance on {folds} (corrected p {least})."
    )


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
