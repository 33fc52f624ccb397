"""Algorithm 2 of the paper, on reports: which learning rate, which architecture."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from keras_vaf.experiments.reports import Report, Trial, error
from keras_vaf.experiments.tables import by_arm

Selection = Literal["validation", "paper"]


@dataclass(frozen=True)
class Selected:
    """The architecture that stands for one activation on one dataset.

    Attributes:
        reports: The reports of the selected architecture, by seed and fold.
        trials: The selected trial of each.
    """

    reports: tuple[Report, ...]
    trials: tuple[Trial, ...]

    def scores(self, metric: str) -> tuple[float, ...]:
        """Return a test score by seed and fold."""
        return tuple(trial.scores[metric] for trial in self.trials)


def select(
    reports: Sequence[Report], selection: Selection = "validation"
) -> dict[tuple[str, str], Selected]:
    """Select the learning rate per fold and the architecture per table cell.

    Both selections are made of the same reports, so that their difference is the
    optimism of picking by test scores.

    Args:
        reports: Reports of any datasets, activations and architectures.
        selection: `"validation"` picks the learning rate of each fold by its validation
            score, and the architecture by the mean of these; test scores have no say.
            `"paper"` picks both by test scores, as published.

    Returns:
        The selected architecture for each dataset and activation, by their names.

    Raises:
        ValueError: If there is no such selection, or architectures of an activation
            were trained on different seeds or folds.
    """
    if selection not in get_args(Selection):
        raise ValueError(
            f"`selection` must be one of {get_args(Selection)}. Received: {selection!r}"
        )
    architectures: dict[tuple[str, str], list[Selected]] = {}
    for arm in by_arm(reports).values():
        key = arm[0].protocol.dataset, arm[0].protocol.variant.name
        trials = tuple(_trial(report, selection) for report in arm)
        architectures.setdefault(key, []).append(Selected(tuple(arm), trials))
    return {
        key: _architecture(key, candidates, selection)
        for key, candidates in architectures.items()
    }


def _trial(report: Report, selection: Selection) -> Trial:
    metric = report.protocol.metric
    if selection == "validation":
        return report.selected
    return min(report.trials, key=lambda trial: error(metric, trial.scores[metric]))


def _architecture(
    key: tuple[str, str], candidates: list[Selected], selection: Selection
) -> Selected:
    folds = [
        [(report.seed, report.fold) for report in candidate.reports]
        for candidate in candidates
    ]
    if any(other != folds[0] for other in folds):
        raise ValueError(
            "Architectures must have the same seeds and folds to choose among them. "
            f"Received: {list(map(len, folds))} reports for {' and '.join(key)}"
        )
    metric = candidates[0].reports[0].protocol.metric

    def rank(candidate: Selected) -> float:
        scores = [
            trial.scores[metric] if selection == "paper" else trial.validation[metric]
            for trial in candidate.trials
        ]
        return error(metric, statistics.fmean(s for s in scores if s is not None))

    return min(candidates, key=rank)
