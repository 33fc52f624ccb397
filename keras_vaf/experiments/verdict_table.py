"""The table of an experiment: our numbers beside the published ones."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from keras_vaf.experiments.experiment import Outcome, Reproduction
from keras_vaf.experiments.selection import Selection
from keras_vaf.experiments.significance import holm, wilcoxon
from keras_vaf.experiments.verdict import REFERENCE, Verdict, verdicts

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
_SHOWN = ("dataset", "activation", "mean", "deviation", "published", "p", "constant")


def table_of(done: Reproduction, selection: Selection = "validation") -> Outcome:
    """Make the table of an experiment from its reports.

    Args:
        done: The reports; all activations with the same seeds and folds.
        selection: As in `select`.

    Returns:
        The table, without pictures.

    Raises:
        ValueError: If activations lack folds that others have.
    """
    experiment = done.experiment
    found = verdicts(done.reports, experiment.metric, experiment.published, selection)
    return Outcome(
        done.title,
        COLUMNS,
        tuple(lines_of(found)),
        (*over_datasets(found), *notes_of(done, selection)),
        _SHOWN,
    )


def lines_of(found: Mapping[tuple[str, str], Verdict]) -> list[tuple[str, ...]]:
    """Return the table's lines as text."""
    return [_line(dataset, verdict) for (dataset, _), verdict in found.items()]


def over_datasets(found: Mapping[tuple[str, str], Verdict]) -> list[str]:
    """Return a sentence per activation: is it better than the reference overall?"""
    names = [name for name in dict.fromkeys(v for _, v in found) if name != REFERENCE]
    means: dict[str, list[float]] = {
        name: [
            statistics.fmean(v.gains)
            for (_, n), v in found.items()
            if n == name and v.gains
        ]
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


def notes_of(done: Reproduction, selection: Selection) -> list[str]:
    """Return how the table was made, and how it differs from the published one."""
    reports = done.reports
    trials = [trial for report in reports for trial in report.trials]
    last = sum(trial.best_epoch == trial.epochs for trial in trials)
    sizes = len({report.protocol.hidden for report in reports})
    seeds = ", ".join(map(str, sorted({report.seed for report in reports})))
    return [
        f"Score: {done.experiment.metric}; constant is the predictor that ignores its "
        "inputs; wins, ties, losses and p (corrected resampled t-test) are against "
        "ReLU on the same folds.",
        f"Selection of architecture (of {sizes}) and learning rate: {selection}. "
        "Optimism is how much better the mean looks when both are picked by test "
        "scores, as the published ones were.",
        f"Seeds: {seeds}. {len(trials)} trainings; in {last} of them the best epoch "
        "was the last one.",
        *settings_of(done),
        *left_out_of(done),
    ]


def settings_of(done: Reproduction) -> list[str]:
    """Return what the protocols say that the paper does not."""
    protocols = {report.protocol.digest: report.protocol for report in done.reports}
    return sorted(
        {
            f"Trained with {each.optimizer.name} {each.optimizer.arguments or ''} "
            f"({len(each.rates) or 1} learning rates, batch "
            f"{each.batch_size or 'full'}, at most {each.epochs} epochs, patience "
            f"{each.patience}), {each.folds} folds, {each.validation_fraction:.0%} of "
            f"the rest for validation, inputs {each.preprocessing.inputs}, targets "
            f"{each.preprocessing.targets}."
            for each in protocols.values()
        }
    )


def left_out_of(done: Reproduction) -> list[str]:
    """Return which data the quick form leaves out."""
    if not done.left_out:
        return []
    return [f"Left out, as too large: {', '.join(done.left_out)}."]


def _line(dataset: str, verdict: Verdict) -> tuple[str, ...]:
    first = verdict.selected.reports[0]
    published = ""
    if verdict.published is not None:
        theirs = verdict.published
        hidden = "-".join(map(str, theirs.hidden))
        spread = "" if theirs.deviation is None else f" ± {theirs.deviation:.4f}"
        published = f"{theirs.mean:.4f}{spread} ({hidden})"
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
