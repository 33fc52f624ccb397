"""Sentences under tables: which activations are better than their references."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from keras_vaf.experiments.results.notes import p_value
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.significance import holm, wilcoxon

Results = Mapping[tuple[str, str], Result]
"""Results by the names of dataset and activation."""


def over_datasets(found: Results) -> list[str]:
    """Return a sentence for each activation: is it better over all datasets?"""
    means: dict[str, list[float]] = {}
    for (_, name), result in found.items():
        if result.reference is not None:
            gains = means.setdefault(f"{name} against {result.against}", [])
            gains.append(statistics.fmean(result.gains))
    corrected = holm([wilcoxon(gains) for gains in means.values()])
    return [
        f"{pair} over {len(gains)} datasets: better on "
        f"{sum(gain > 0 for gain in gains)}, worse on "
        f"{sum(gain < 0 for gain in gains)}; Wilcoxon signed-rank p = {p:.3g} "
        "(Holm's correction)."
        for (pair, gains), p in zip(means.items(), corrected, strict=True)
    ]


def by_dataset(found: Results) -> list[str]:
    """Return a sentence for each activation: on which datasets is it better?

    This is for few datasets, over which a signed-rank test cannot find a difference.
    The t-tests of the lines are corrected for their number instead.
    """
    tested = {key: each.p for key, each in found.items() if each.p is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    parts: dict[str, list[str]] = {}
    for key, result in found.items():
        if result.reference is not None:
            gain = f"{statistics.fmean(result.gains):+.4f} on {key[0]}"
            p = f" (p {p_value(corrected[key])})" if key in corrected else ""
            pair = f"{key[1]} against {result.against}"
            parts.setdefault(pair, []).append(gain + p)
    sentences = [f"{pair}: {', '.join(gains)}." for pair, gains in parts.items()]
    if len(corrected) > 1:
        sentences.append(
            f"These p-values have Holm's correction for {len(corrected)} comparisons."
        )
    return sentences
