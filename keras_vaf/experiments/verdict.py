"""Every activation on every dataset, held against the others and the paper."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from keras_vaf.experiments.published import Published
from keras_vaf.experiments.reports import Report, error
from keras_vaf.experiments.selection import Selected, Selection, select
from keras_vaf.experiments.significance import corrected_t_test

REFERENCE = "relu"
"""The activation that the others are held against."""


@dataclass(frozen=True)
class Verdict:
    """One activation on one dataset.

    Attributes:
        selected: The selected architecture.
        scores: Its test score by seed and fold.
        gains: How much better than the reference it is, by seed and fold; empty for
            the reference.
        p: p-value of the corrected t-test of the gains; `None` for the reference, and
            for a single gain.
        optimism: How much better the mean looks when picked by test scores.
        constant: Mean score of the predictor that ignores its inputs.
        published: What the paper reports.
    """

    selected: Selected
    scores: tuple[float, ...]
    gains: tuple[float, ...]
    p: float | None
    optimism: float
    constant: float
    published: Published | None

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return statistics.fmean(self.scores)

    @property
    def deviation(self) -> float:
        """Standard deviation of the scores (n - 1), 0 for a single one."""
        return statistics.stdev(self.scores) if len(self.scores) > 1 else 0.0


def verdicts(
    reports: Sequence[Report],
    metric: str,
    published: Sequence[Published],
    selection: Selection = "validation",
) -> dict[tuple[str, str], Verdict]:
    """Judge every activation on every dataset.

    Args:
        reports: Reports of an experiment; all activations with the same seeds and
            folds.
        metric: The score that is held against the published numbers.
        published: The published numbers.
        selection: As in `select`.

    Returns:
        The verdicts, by the names of dataset and activation.

    Raises:
        ValueError: If activations lack folds that others have.
    """
    chosen = select(reports, selection)
    by_test = select(reports, "paper")
    known = {(each.dataset, each.variant): each for each in published}
    found = {}
    for key, selected in chosen.items():
        reference = chosen.get((key[0], REFERENCE))
        gains = _gains(metric, selected, reference)
        best = statistics.fmean(by_test[key].scores(metric))
        mean = statistics.fmean(selected.scores(metric))
        found[key] = Verdict(
            selected,
            selected.scores(metric),
            gains,
            _p_value(gains, selected),
            error(metric, mean) - error(metric, best),
            statistics.fmean(each.baseline[metric] for each in selected.reports),
            known.get(key),
        )
    return found


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


def _p_value(gains: Sequence[float], selected: Selected) -> float | None:
    if len(gains) < 2:
        return None
    rows = selected.reports[0].rows
    return corrected_t_test(gains, rows["test"] / sum(rows.values()))
