"""`over_datasets` and `by_dataset`, sentences that summarise tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keras_vaf.experiments.reports.report import error
from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.ratio import Ratio
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.significance import LEVEL, holm

Results = Mapping[tuple[str, str], Result]
"""Results by the names of dataset and activation."""

TITLES = {
    "relu": "ReLU",
    "vaf-relu": "VAF, ReLU start",
    "vaf-random": "VAF, random start",
    "vaf-random-rescaled": "VAF, rescaled random start",
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


@dataclass(frozen=True)
class Summary:
    """An activation compared with a reference over several datasets.

    Attributes:
        activation: Name of the activation.
        reference: Name of the reference.
        results: The comparisons, by dataset.
        significant: Names of the datasets whose p-value is significant after Holm's
            correction for the number of datasets.
        ratio: The ratios of the errors.
        p: p-value of the signed-rank test on the logarithms of the ratios, with Holm's
            correction for the number of pairs.
    """

    activation: str
    reference: str
    results: Mapping[str, Result]
    significant: frozenset[str]
    ratio: Ratio
    p: float

    @property
    def p_text(self) -> str:
        """The p-value with three digits."""
        return f"{self.p:.3g}" if self.p >= 0.001 else "< 0.001"

    def datasets(self, direction: str) -> list[str]:
        """Return the datasets on which the activation is better, worse or equal."""
        return [
            name for name, each in self.results.items() if each.direction == direction
        ]


def summaries_of(found: Results) -> list[Summary]:
    """Return the summary of each pair of activations.

    Args:
        found: The results of a table.
    """
    pairs, corrected = by_pair(found), holm_over_datasets(found)
    ratios = [
        Ratio.of(*zip(*map(mean_errors, own.values()), strict=True))
        for own in pairs.values()
    ]
    tests = holm([each.p for each in ratios])
    return [
        Summary(
            *pair,
            own,
            frozenset(name for name in own if corrected.get((name, *pair), 1) < LEVEL),
            ratio,
            p,
        )
        for (pair, own), ratio, p in zip(pairs.items(), ratios, tests, strict=True)
    ]


def over_datasets(found: Results) -> list[str]:
    """Return a sentence for each pair: is the activation better over all datasets?"""
    sentences = []
    for each in summaries_of(found):
        words = ("better", "worse", "equal")
        better, worse, equal = (len(each.datasets(word)) for word in words)
        ties = f", equal on {equal}" if equal else ""
        p = each.p_text if "<" in each.p_text else f"= {each.p_text}"
        sentences.append(
            f"{each.activation} against {each.reference} over {len(each.results)} "
            f"datasets: better on {better}, worse on {worse}{ties}; "
            f"{each.ratio.text(3)} times the error; Wilcoxon signed-rank p {p} "
            "(Holm's correction)."
        )
    return sentences


def mean_errors(result: Result) -> tuple[float, float]:
    """Return the mean errors of an activation and of its reference.

    An error is a root mean square error, or 1 minus an accuracy.

    Args:
        result: The result, which has a reference.
    """
    highest = 1 if result.metric.endswith("accuracy") else 0
    own = highest + error(result.metric, result.mean)
    return own, own + result.gain


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
