"""The table of a reproduction: our numbers beside the published ones."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from keras_vaf.experiments.published import Published
from keras_vaf.experiments.reports import Report, error
from keras_vaf.experiments.selection import Selected, Selection, select
from keras_vaf.experiments.significance import corrected_t_test, holm, wilcoxon

REFERENCE = "relu"
"""The activation that the others are held against."""

COLUMNS = (
    "dataset",
    "rows",
    "activation",
    "hidden",
    "mean",
    "deviation",
    "published",
    "wins/ties/losses",
    "p",
    "optimism",
    "constant",
    "parameters",
    "seconds",
)


@dataclass(frozen=True)
class Verdict:
    """One activation on one dataset.

    Attributes:
        selected: The selected architecture.
        scores: Its test score by seed and fold.
        gains: How much better than the reference it is, by seed and fold; empty for
            the reference.
        p: p-value of the corrected t-test of the gains; `None` for the reference.
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
            corrected_t_test(gains, _test_fraction(selected)) if gains else None,
            error(metric, mean) - error(metric, best),
            statistics.fmean(each.baseline[metric] for each in selected.reports),
            known.get(key),
        )
    return found


def lines_of(found: dict[tuple[str, str], Verdict]) -> list[tuple[str, ...]]:
    """Return the table's lines as text."""
    return [_line(dataset, verdict) for (dataset, _), verdict in found.items()]


def markdown(
    title: str, found: dict[tuple[str, str], Verdict], notes: Sequence[str]
) -> str:
    """Return the table, what it says over all datasets, and how it was made.

    Args:
        title: Heading.
        found: The verdicts.
        notes: Sentences about the run.

    Returns:
        A heading, a table and a list of notes in Markdown.
    """
    lines = [COLUMNS, ("---", *["---:"] * (len(COLUMNS) - 1)), *lines_of(found)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    listed = "\n".join(f"- {note}" for note in [*over_datasets(found), *notes])
    return f"# {title}\n\n{table}\n\n{listed}\n"


def over_datasets(found: dict[tuple[str, str], Verdict]) -> list[str]:
    """Return a sentence per activation: is it better than the reference overall?"""
    names = [name for name in dict.fromkeys(v for _, v in found) if name != REFERENCE]
    means: dict[str, list[float]] = {
        name: [statistics.fmean(v.gains) for (_, n), v in found.items() if n == name]
        for name in names
    }
    corrected = holm([wilcoxon(gains) for gains in means.values()])
    return [
        f"{name} against {REFERENCE} over {len(gains)} datasets: better on "
        f"{sum(gain > 0 for gain in gains)}, worse on "
        f"{sum(gain < 0 for gain in gains)}; Wilcoxon signed-rank p = {p:.3g} "
        "(Holm's correction)."
        for (name, gains), p in zip(means.items(), corrected, strict=True)
    ]


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


def _line(dataset: str, verdict: Verdict) -> tuple[str, ...]:
    first = verdict.selected.reports[0]
    published = ""
    if verdict.published is not None:
        theirs = verdict.published
        hidden = "-".join(map(str, theirs.hidden))
        published = f"{theirs.mean:.4f} ± {theirs.deviation:.4f} ({hidden})"
    signs = [(gain > 0) - (gain < 0) for gain in verdict.gains]
    counts = "/".join(str(signs.count(sign)) for sign in (1, 0, -1)) if signs else ""
    return (
        dataset,
        str(sum(first.rows.values())),
        first.protocol.variant.name,
        "-".join(map(str, first.protocol.hidden)),
        f"{verdict.mean:.4f}",
        f"{verdict.deviation:.4f}",
        published,
        counts,
        "" if verdict.p is None else f"{verdict.p:.3f}",
        f"{verdict.optimism:.4f}",
        f"{verdict.constant:.4f}",
        f"{first.parameters:,}",
        f"{sum(report.seconds for report in verdict.selected.reports):.1f}",
    )
