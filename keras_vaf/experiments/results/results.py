"""Every activation on every dataset, held against the others and the paper."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keras_vaf.experiments.fair_relu import EITHER, FAIR_RELU, with_either
from keras_vaf.experiments.reports.report import Report, error
from keras_vaf.experiments.results.selection import Selected, Selection, select
from keras_vaf.experiments.results.significance import (
    corrected_interval,
    corrected_t_test,
)

REFERENCE = "relu"
"""The activation that the others are held against."""

REFERENCES = {EITHER: FAIR_RELU.name}
"""Activations that are held against another one."""


@dataclass(frozen=True)
class Published:
    """One cell of a table of the paper.

    Attributes:
        dataset: Name of the data, as in the catalogue.
        variant: Name of the activation, as in `VARIANTS`.
        mean: Mean over the folds.
        deviation: Standard deviation over the folds; `None` for a single training.
        hidden: Widths of the hidden layers of the best architecture.
    """

    dataset: str
    variant: str
    mean: float
    deviation: float | None
    hidden: tuple[int, ...]


@dataclass(frozen=True)
class Verdict:
    """One activation on one dataset.

    Attributes:
        selected: The selected architecture.
        scores: Its test score by seed and fold.
        reference: The activation that it is held against; `None` if there is none.
        gains: How much better than the reference it is, by seed and fold.
        p: p-value of the corrected t-test of the gains; `None` below two of them.
        interval: Half the width of the corrected 95% interval of the mean gain.
        optimism: How much better the mean looks when picked by test scores.
        baseline: Score of the predictor that ignores its inputs, by seed and fold.
        published: What the paper reports.
    """

    selected: Selected
    scores: tuple[float, ...]
    reference: str | None
    gains: tuple[float, ...]
    p: float | None
    interval: float | None
    optimism: float
    baseline: tuple[float, ...]
    published: Published | None

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return statistics.fmean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores (n - 1), 0 for a single one."""
        return deviation(self.scores)


def verdicts(
    reports: Sequence[Report],
    metric: str,
    published: Sequence[Published],
    selection: Selection = "validation",
    references: Mapping[str, str] = REFERENCES,
) -> dict[tuple[str, str], Verdict]:
    """Judge every activation on every dataset.

    Args:
        reports: Reports of an experiment; all activations with the same seeds and
            folds.
        metric: The score that is held against the published numbers.
        published: The published numbers.
        selection: As in `select`.
        references: What activations are held against, by their names; the others are
            held against ReLU.

    Returns:
        The verdicts, by the names of dataset and activation. Where a ReLU that is fair
        is there, the better of two VAFs in each fold is held against it.

    Raises:
        ValueError: If activations lack folds that others have.
    """
    reports = with_either(reports)
    chosen = select(reports, selection)
    honest = select(reports, "validation")
    by_test = select(reports, "paper") if selection == "validation" else chosen
    known = {(each.dataset, each.variant): each for each in published}
    found = {}
    for key, selected in chosen.items():
        name = references.get(key[1], REFERENCE)
        reference = chosen.get((key[0], name))
        gains = _gains(metric, selected, reference)
        share = _test_fraction(selected)
        picked, fair = (
            error(metric, statistics.fmean(each[key].scores(metric)))
            for each in (by_test, honest)
        )
        found[key] = Verdict(
            selected,
            selected.scores(metric),
            name if gains else None,
            gains,
            corrected_t_test(gains, share) if len(gains) > 1 else None,
            corrected_interval(gains, share) if len(gains) > 1 else None,
            fair - picked,
            tuple(report.baseline[metric] for report in selected.reports),
            known.get(key),
        )
    return found


def deviation(scores: Sequence[float]) -> float:
    """Return the standard deviation (n - 1), 0 for a single score."""
    return statistics.stdev(scores) if len(scores) > 1 else 0.0


def _gains(
    metric: str, selected: Selected, reference: Selected | None
) -> tuple[float, ...]:
    if reference is None or reference is selected:
        return ()
    ours, theirs = (
        {(report.seed, report.fold): trial.scores[metric] for report, trial in pairs}
        for pairs in (
            zip(each.reports, each.trials, strict=True)
            for each in (selected, reference)
        )
    )
    if ours.keys() != theirs.keys():
        raise ValueError(
            "Activations need the same seeds and folds to be compared. Received: "
            f"{len(ours)} and {len(theirs)} reports on "
            f"{selected.reports[0].protocol.dataset}"
        )
    return tuple(error(metric, theirs[key]) - error(metric, ours[key]) for key in ours)


def _test_fraction(selected: Selected) -> float:
    rows = selected.reports[0].rows
    return rows["test"] / sum(rows.values())
