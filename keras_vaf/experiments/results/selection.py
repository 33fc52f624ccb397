"""`select`, Algorithm 2, which selects learning rates and architectures."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import Report, Trial, error
from keras_vaf.experiments.results.trials import (
    by_digest,
    check_reports,
    with_all_trials,
)
from keras_vaf.utils import check_choice

Selection = Literal["validation", "paper", "literal"]

FIXED = ("relu", "gelu", "silu", "tanh")
"""The common fixed activations."""

TEAMS = {"best-fixed": FIXED, "vaf-best": ("vaf-relu", "vaf-silu", "vaf-random")}
"""Names for the best of several activations, if all of them were trained."""


@dataclass(frozen=True)
class Selected:
    """The selected reports and trials of one activation on one dataset.

    Attributes:
        reports: The reports of the selected architecture, by seed and fold.
        trials: The selected trial of each report.
        team: Name in `TEAMS`, if the activation was selected among several activations.
    """

    reports: tuple[Report, ...]
    trials: tuple[Trial, ...]
    team: str = ""

    @classmethod
    def of(cls, reports: Sequence[Report]) -> Self:
        """Return reports with their trials of best validation score."""
        return cls(tuple(reports), tuple(report.selected for report in reports))

    @property
    def protocol(self) -> Protocol:
        """Protocol of the first report."""
        return self.reports[0].protocol

    @property
    def name(self) -> str:
        """Name of the team or, without a team, of the activation."""
        return self.team or self.protocol.variant.name

    @property
    def at_edges(self) -> tuple[int, int]:
        """Numbers of folds with the lowest and with the highest learning rate."""
        rates = self.protocol.rates
        if len(rates) < 2:
            return 0, 0
        chosen = [trial.rate for trial in self.trials]
        return chosen.count(min(rates)), chosen.count(max(rates))

    @property
    def folds(self) -> dict[tuple[int, int], Trial]:
        """The trials by seed and fold."""
        keys = ((report.seed, report.fold) for report in self.reports)
        return dict(zip(keys, self.trials, strict=True))

    def scores(self, metric: str) -> tuple[float, ...]:
        """Return the test scores for a metric, by seed and fold."""
        return tuple(trial.scores[metric] for trial in self.trials)

    @property
    def hidden(self) -> tuple[int, ...] | None:
        """Widths of the hidden layers, or `None` if they differ between folds."""
        widths = {report.protocol.hidden for report in self.reports}
        return self.protocol.hidden if len(widths) == 1 else None


def networks_of(reports: Sequence[Report]) -> list[Report]:
    """Return the reports of networks, without those of references."""
    check_reports(reports)
    return [each for each in reports if not each.protocol.is_reference]


def references_of(reports: Sequence[Report]) -> list[Report]:
    """Return the reports of references, which have no activation."""
    return [each for each in reports if each.protocol.is_reference]


def by_protocol(reports: Sequence[Report]) -> dict[str, list[Report]]:
    """Return the reports of each protocol by hash, ordered by seed and fold.

    Protocols that differ only in the number of networks trained together count as one.
    """
    found = by_digest(reports, lambda protocol: replace(protocol, replicas=1))
    return {
        digest: sorted(own, key=lambda report: (report.seed, report.fold))
        for digest, own in found.items()
    }


def select(
    reports: Sequence[Report], selection: Selection = "validation"
) -> dict[tuple[str, str], Selected]:
    """Select learning rate, start and architecture of each activation on each dataset.

    Protocols that differ only in their learning rates count as one. If all activations
    of a team in `TEAMS` were trained, the best of them is also selected, in the same
    way as the architecture.

    All selections use the same reports. Their difference shows the bias of a selection
    by test scores.

    Args:
        reports: Reports of any datasets, activations and architectures.
        selection: `"validation"` selects learning rate and start in each fold by the
            validation score, and the architecture by the mean validation score. Of
            equal ones, the one with the lower validation loss is selected.
            `"paper"` makes all selections by test scores, with one architecture for all
            folds, as in the published tables. `"literal"` also selects the architecture
            in each fold by the test score, which is Algorithm 2 as written.

    Returns:
        A dictionary from the names of dataset and activation to the selected reports
        and trials.

    Raises:
        ValueError: If the selection is unknown, if architectures of an activation were
            trained on different seeds or folds, or if an architecture was trained by
            several protocols.
    """
    check_selection(selection)
    architectures: dict[tuple[str, str], list[Selected]] = {}
    for own in by_protocol(with_all_trials(reports)).values():
        key = own[0].protocol.dataset, own[0].protocol.variant.name
        trials = tuple(_trial(report, selection) for report in own)
        architectures.setdefault(key, []).append(Selected(tuple(own), trials))
    for key, candidates in architectures.items():
        _check_alike(key, candidates)
    choose = _by_fold if selection == "literal" else _architecture
    found = {
        key: choose(candidates, selection) for key, candidates in architectures.items()
    }
    for dataset, (name, members) in itertools.product(
        dict.fromkeys(dataset for dataset, _ in found), TEAMS.items()
    ):
        teams = [architectures.get((dataset, member)) for member in members]
        if all(teams):
            every = [each for team in teams if team for each in team]
            found[dataset, name] = replace(choose(every, selection), team=name)
    return found


def check_selection(selection: str) -> None:
    """Raise a `ValueError` for an unknown selection."""
    check_choice("selection", selection, get_args(Selection))


def _trial(report: Report, selection: Selection) -> Trial:
    metric = report.protocol.metric
    if selection == "validation":
        return report.selected
    return min(report.trials, key=lambda trial: error(metric, trial.scores[metric]))


def _check_alike(key: tuple[str, str], candidates: list[Selected]) -> None:
    folds = [list(candidate.folds) for candidate in candidates]
    if any(other != folds[0] for other in folds):
        raise ValueError(
            "Architectures must have the same seeds and folds for a selection among "
            f"them. Received: {list(map(len, folds))} reports for {' and '.join(key)}"
        )
    if len({candidate.hidden for candidate in candidates}) < len(candidates):
        raise ValueError(
            "A table needs a single protocol. Received: the same architecture by "
            f"several protocols for {' and '.join(key)}"
        )


def _architecture(candidates: list[Selected], selection: Selection) -> Selected:
    """Return the architecture with the best mean score, or of these the lowest loss."""
    metric = candidates[0].protocol.metric

    def rank(candidate: Selected) -> tuple[float, float]:
        scores = [
            trial.scores[metric] if selection == "paper" else trial.validation[metric]
            for trial in candidate.trials
        ]
        mean = error(metric, statistics.fmean(s for s in scores if s is not None))
        losses = [trial.validation["loss"] for trial in candidate.trials]
        finite = [loss for loss in losses if loss is not None]
        loss = statistics.fmean(finite) if finite == losses else math.inf
        return float(f"{mean:.9g}"), loss  # equal means may differ by rounding

    return min(candidates, key=rank)


def _by_fold(candidates: list[Selected], selection: Selection) -> Selected:
    """Return the architecture with the best test score of each fold."""
    metric = candidates[0].protocol.metric
    pairs = [zip(each.reports, each.trials, strict=True) for each in candidates]
    best = [
        min(cell, key=lambda pair: error(metric, pair[1].scores[metric]))
        for cell in zip(*pairs, strict=True)
    ]
    reports, trials = zip(*best, strict=True)
    return Selected(reports, trials)
