"""`advice`, two sentences on what to use after a comparison, and what to try next."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence

from keras_vaf.experiments.best import choose
from keras_vaf.experiments.reports.report import Report, error
from keras_vaf.experiments.results.comparison_table import baseline_title, number_of
from keras_vaf.experiments.results.differences import (
    corrected_p,
    difference,
    folds_of,
    metric_word,
)
from keras_vaf.experiments.results.result import (
    Result,
    reference_results,
    results_of,
)
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.experiments.results.table import written
from keras_vaf.layers import VAFActivation


def advice(reports: Sequence[Report], next_step: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as two sentences.

    If a reference has a better mean test score than the chosen network, the reference
    is named first.

    Args:
        reports: The reports of a comparison, perhaps with references.
        next_step: What to try next, as a sentence. By default, it depends on the
            chosen activation.
    """
    arm = choose(reports)
    results = results_of(reports)
    [chosen] = [each for each in results if each.selected.reports == arm.reports]
    best = min((chosen, *reference_results(reports)), key=_error)
    if _error(best) >= error(chosen.metric, statistics.fmean(chosen.baseline)):
        return _nothing_learned(chosen)
    evidence = _evidence(results, chosen, folds_of(reports))
    if best is chosen:
        next_step = next_step or _next(results, chosen)
        return f"Use {arm.title}: {evidence}. {next_step}"
    return (
        f"Try {best.title} first: {_instead(best, chosen)}. "
        f"Among the networks, use {arm.title}: {evidence}."
    )


def _error(result: Result) -> float:
    return error(result.metric, result.mean)


def _nothing_learned(chosen: Result) -> str:
    score = written(statistics.fmean(chosen.baseline), number_of(chosen.metric))
    return (
        "No model predicts the target better than a constant "
        f"({baseline_title(chosen.protocol)}, {metric_word(chosen.metric)} {score}). "
        "Add columns that tell more about the target, or rows."
    )


def _instead(best: Result, chosen: Result) -> str:
    """Return by how much a reference is better than the chosen network."""
    compared = dataclasses.replace(best, reference=chosen.selected)
    number = number_of(best.metric)
    scores = [written(each.mean, number) for each in (best, chosen)]
    text = f"{metric_word(best.metric)} {scores[0]}, and {scores[1]} with the network"
    if compared.interval is None:
        return text
    ends = (compared.gain - compared.interval, compared.gain + compared.interval)
    low, high = (written(end, number) for end in ends)
    return f"{text} (95% interval of the gain {low} to {high})"


def _evidence(results: Sequence[Result], chosen: Result, folds: str) -> str:
    """Return how sure the choice among the activations is."""
    first, corrected = results[0], corrected_p(results)
    p = corrected[results.index(chosen)]
    if p is not None and p < LEVEL and chosen.direction == "better":
        return f"it is {difference(chosen, p)}"
    if len(results) == 1:
        return "it is the only activation"
    gain = _smallest_gain(results)
    shown = f", which would have shown a gain of about {gain}" if gain else ""
    return (
        f"no activation is better than {first.title} beyond chance on {folds}{shown}, "
        "and it is the cheapest"
    )


def _smallest_gain(results: Sequence[Result]) -> str:
    """Return the gain that the folds could have shown for half of the activations."""
    tests = len(results) - 1
    gains = [each.smallest_gain(tests) for each in results[1:]]
    known = [gain for gain in gains if gain is not None]
    if not known:
        return ""
    return written(statistics.median(known), number_of(results[0].metric))


def _next(results: Sequence[Result], chosen: Result) -> str:
    """Return the sentence on what to try next."""
    if chosen is results[0]:
        return "To find smaller differences, add seeds: `--seeds 0,1,2`."
    if chosen.protocol.variant.layer == VAFActivation.__name__:
        return "Next, try a larger k: `--k 5`."
    return "Next, try a wider network: `--hidden 200,100`."
