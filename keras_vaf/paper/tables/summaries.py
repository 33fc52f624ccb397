"""`over_datasets` and `by_dataset`, sentences that summarise tables."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from keras_vaf.experiments.reports.report import error
from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.significance import holm, wilcoxon

Results = Mapping[tuple[str, str], Result]
"""Results by the names of dataset and activation."""

TITLES = {
    "relu": "ReLU",
    "relu-fair": "ReLU of equal size and tries",
    "vaf-relu": "VAF, ReLU start",
    "vaf-random": "VAF, random start",
    "vaf-random-rescaled": "VAF, rescaled random start",
    "vaf-either": "VAF, random or ReLU start",
    "vaf-either-rescaled": "VAF, rescaled or ReLU start",
    "vaf-silu": "VAF, SiLU start",
    "prelu": "PReLU",
    "gelu": "GELU",
    "silu": "SiLU",
    "tanh": "tanh",
    "vaf-best": "best VAF",
    "best-fixed": "best fixed activation",
}
"""Names of activations and of their teams, in pictures and on pages."""

Pair = tuple[str, str]
"""The names of an activation and of its reference."""


def by_pair(found: Results) -> dict[Pair, dict[str, Result]]:
    """Return the comparisons of each pair of activations, by dataset."""
    pairs: dict[Pair, dict[str, Result]] = {}
    for (dataset, name), result in found.items():
        for each in result.comparisons:
            pairs.setdefault((name, each.against), {})[dataset] = each
    return pairs


def holm_over_datasets(found: Results) -> dict[tuple[str, str, str], float]:
    """Return p-values with Holm's correction for the datasets of each pair.

    Args:
        found: The results of a table.

    Returns:
        The corrected p-values, by dataset, activation and reference.
    """
    corrected = {}
    for pair, results in by_pair(found).items():
        tested = {name: each.p for name, each in results.items() if each.p is not None}
        for name, p in zip(tested, holm(list(tested.values())), strict=True):
            corrected[name, *pair] = p
    return corrected


def over_datasets(found: Results) -> list[str]:
    """Return a sentence for each pair: is the activation better over all datasets?"""
    pairs = {pair: list(own.values()) for pair, own in by_pair(found).items()}
    means = [[each.gain for each in own] for own in pairs.values()]
    corrected = holm([wilcoxon(gains) for gains in means])
    return [
        f"{name} against {against} over {len(gains)} datasets: better on "
        f"{sum(gain > 0 for gain in gains)}, worse on "
        f"{sum(gain < 0 for gain in gains)}{_ties(gains)}; "
        f"{error_ratio(pairs[name, against]):.3f} "
        f"times the error; Wilcoxon signed-rank p {_three_digits(p)} "
        "(Holm's correction)."
        for (name, against), gains, p in zip(pairs, means, corrected, strict=True)
    ]


def mean_errors(result: Result) -> tuple[float, float]:
    """Return the mean errors of an activation and of its reference.

    An error is a root mean square error, or 1 minus an accuracy.

    Args:
        result: The result, which has a reference.
    """
    highest = 1 if result.metric.endswith("accuracy") else 0
    own = highest + error(result.metric, result.mean)
    return own, own + result.gain


def error_ratio(results: Sequence[Result]) -> float:
    """Return the geometric mean of ratios of errors; below 1, the activation is better.

    Args:
        results: Results of an activation with the same reference on several datasets.
            Those where one of the two makes no error are left out.

    Returns:
        The ratio, or NaN if all datasets are left out.
    """
    pairs = [mean_errors(result) for result in results]
    ratios = [own / reference for own, reference in pairs if min(own, reference) > 0]
    return statistics.geometric_mean(ratios) if ratios else math.nan


def by_dataset(found: Results) -> list[str]:
    """Return a sentence for each pair: on which datasets is the activation better?

    This is for few datasets, over which a signed-rank test cannot find a difference.
    The t-tests of the lines are corrected for their number instead.
    """
    tested = {
        (dataset, *pair): each.p
        for pair, results in by_pair(found).items()
        for dataset, each in results.items()
        if each.p is not None
    }
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    sentences = []
    for pair, results in by_pair(found).items():
        parts = []
        for dataset, each in results.items():
            p = corrected.get((dataset, *pair))
            gain = f"{each.gain:+.4f} on {dataset}"
            parts.append(gain if p is None else f"{gain} (p {p_value(p)})")
        sentences.append(f"{pair[0]} against {pair[1]}: {', '.join(parts)}.")
    if len(corrected) > 1:
        sentences.append(
            f"These p-values have Holm's correction for {len(corrected)} comparisons."
        )
    return sentences


def _ties(gains: Sequence[float]) -> str:
    ties = sum(gain == 0 for gain in gains)
    return f", equal on {ties}" if ties else ""


def _three_digits(p: float) -> str:
    return f"= {p:.3g}" if p >= 0.001 else "< 0.001"
