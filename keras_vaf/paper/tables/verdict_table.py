"""The table of an experiment: our numbers beside the published ones."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.results import Verdict, deviation, verdicts
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.significance import holm, wilcoxon
from keras_vaf.paper.experiment import Outcome, Reproduction

COLUMNS = (
    "dataset",
    "rows",
    "activation",
    "hidden",
    "mean",
    "deviation",
    "balanced",
    "published",
    "against",
    "wins/ties/losses",
    "gain",
    "p",
    "optimism",
    "folds",
    "epochs",
    "parameters",
    "seconds",
    "device",
)
_SHOWN = ("dataset", "activation", "mean", "deviation", "published", "gain", "p")
_BALANCED = "balanced_accuracy"


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
    found = verdicts(
        done.reports,
        experiment.metric,
        experiment.published,
        selection,
        experiment.references,
    )
    lines = lines_of(found)
    filled = [any(cells) for cells in zip(*lines, strict=True)]
    return Outcome(
        done.title,
        _kept(COLUMNS, filled),
        tuple(_kept(line, filled) for line in lines),
        (*over_datasets(found), *notes_of(done, selection)),
        tuple(name for name in _SHOWN if name in _kept(COLUMNS, filled)),
    )


def lines_of(found: Mapping[tuple[str, str], Verdict]) -> list[tuple[str, ...]]:
    """Return the table's lines as text: of each dataset, the constant first."""
    lines: list[dict[str, str]] = []
    for dataset in dict.fromkeys(name for name, _ in found):
        own = [verdict for (name, _), verdict in found.items() if name == dataset]
        lines += [constant_cells(own[0]), *map(verdict_cells, own)]
    return [tuple(line.get(name, "") for name in COLUMNS) for line in lines]


def over_datasets(found: Mapping[tuple[str, str], Verdict]) -> list[str]:
    """Return a sentence per activation: is it better than its reference overall?"""
    means: dict[tuple[str, str], list[float]] = {}
    for (_, name), verdict in found.items():
        if verdict.reference is not None:
            gains = means.setdefault((name, verdict.reference), [])
            gains.append(statistics.fmean(verdict.gains))
    corrected = holm([wilcoxon(gains) for gains in means.values()])
    return [
        f"{name} against {reference} over {len(gains)} datasets: better on "
        f"{sum(gain > 0 for gain in gains)}, worse on "
        f"{sum(gain < 0 for gain in gains)}; Wilcoxon signed-rank p = {p:.3g} "
        "(Holm's correction)."
        for ((name, reference), gains), p in zip(means.items(), corrected, strict=True)
    ]


def notes_of(done: Reproduction, selection: Selection) -> list[str]:
    """Return how the table was made, and how it differs from the published one."""
    reports = done.reports
    sizes: dict[tuple[str, str], set[tuple[int, ...]]] = {}
    for report in reports:
        key = report.protocol.dataset, report.protocol.variant.name
        sizes.setdefault(key, set()).add(report.protocol.hidden)
    most = max(map(len, sizes.values()), default=0)
    return [
        f"Score: {done.experiment.metric}; constant is the predictor that ignores its "
        "inputs. Wins, ties, losses, gain (with its 95% interval) and p (corrected "
        "resampled t-test) are against the named activation on the same folds.",
        f"Selection of architecture (of {most}), learning rate and start: {selection}. "
        "Optimism is how much better the mean looks when they are picked by test "
        "scores, as the published ones were.",
        trainings_of(reports),
        *settings_of(reports),
        *left_out_of(done),
    ]


def trainings_of(reports: Sequence[Report]) -> str:
    """Return how many trainings there were, and how many were too short."""
    trials = [trial for report in reports for trial in report.trials]
    last = sum(trial.best_epoch == trial.epochs for trial in trials)
    seeds = ", ".join(map(str, sorted({report.seed for report in reports})))
    return (
        f"Seeds: {seeds}. {len(trials)} trainings; in {last} of them the best epoch "
        "was the last one."
    )


def settings_of(reports: Sequence[Report]) -> list[str]:
    """Return all that the protocols say and the paper does not."""
    sentences = set()
    for protocol in {each.protocol.digest: each.protocol for each in reports}.values():
        prepared, build = protocol.preprocessing, protocol.architecture
        arguments = {**protocol.optimizer.arguments, **build.arguments}
        if protocol.optimizer.apart is not None:
            arguments["rate of activations apart"] = protocol.optimizer.apart
        named = "".join(f", {name} {value}" for name, value in arguments.items())
        tried = ", ".join(f"{rate:.4g}" for rate in protocol.rates)
        rates = f"learning rates {tried}; " if tried else ""
        division = f"{protocol.folds} folds"
        if protocol.test_fraction is not None:
            division = f"{protocol.folds} times {protocol.test_fraction:.0%} for test"
        if protocol.test_rows:
            division = f"the last {protocol.test_rows} rows for test"
        kernels = "; kernels Glorot uniform, biases 0" if build.name == "mlp" else ""
        sentences.add(
            f"Trained ({build.name}) with {protocol.optimizer.name}{named}: "
            f"{rates}batch {protocol.batch_size or 'full'}, at most "
            f"{protocol.epochs} epochs, patience {protocol.patience}; {division}, "
            f"{protocol.validation_fraction:.0%} of the rest for validation; inputs "
            f"{prepared.inputs}, targets {prepared.targets}, categories "
            f"{prepared.categories}{kernels}."
        )
    return sorted(sentences)


def left_out_of(done: Reproduction) -> list[str]:
    """Return which data the quick form leaves out."""
    if not done.left_out:
        return []
    return [f"Left out, as too large: {', '.join(done.left_out)}."]


def verdict_cells(verdict: Verdict) -> dict[str, str]:
    """Return what a table says of one activation, by the titles of columns."""
    selected = verdict.selected
    first, hidden = selected.reports[0], selected.hidden
    parameters = {report.parameters for report in selected.reports}
    signs = [(gain > 0) - (gain < 0) for gain in verdict.gains]
    counts = "/".join(str(signs.count(sign)) for sign in (1, 0, -1))
    return {
        "dataset": first.protocol.dataset,
        "rows": str(sum(first.rows.values())),
        "activation": first.protocol.variant.name,
        "hidden": "-".join(map(str, hidden)) if hidden else "varies",
        "mean": f"{verdict.mean:.4f}",
        "deviation": f"{verdict.deviation:.4f}",
        "balanced": _balanced([trial.scores for trial in selected.trials]),
        "published": _published(verdict),
        "against": verdict.reference or "",
        "wins/ties/losses": counts if signs else "",
        "gain": _gain(verdict),
        "p": "" if verdict.p is None else f"{verdict.p:.3f}",
        "optimism": f"{verdict.optimism:.4f}",
        "folds": str(len(selected.reports)),
        "epochs": str(first.protocol.epochs),
        "parameters": f"{first.parameters:,}" if len(parameters) == 1 else "varies",
        "seconds": f"{sum(report.seconds for report in selected.reports):.1f}",
        "device": first.environment["device"].partition(":")[0],
    }


def constant_cells(verdict: Verdict) -> dict[str, str]:
    """Return what a table says of the predictor that ignores its inputs."""
    reports = verdict.selected.reports
    return {
        "dataset": reports[0].protocol.dataset,
        "rows": str(sum(reports[0].rows.values())),
        "activation": "constant",
        "mean": f"{statistics.fmean(verdict.baseline):.4f}",
        "deviation": f"{deviation(verdict.baseline):.4f}",
        "balanced": _balanced([report.baseline for report in reports]),
        "folds": str(len(reports)),
    }


def _balanced(scores: Sequence[Mapping[str, float]]) -> str:
    if not all(_BALANCED in each for each in scores):
        return ""
    return f"{statistics.fmean(each[_BALANCED] for each in scores):.4f}"


def _published(verdict: Verdict) -> str:
    theirs = verdict.published
    if theirs is None:
        return ""
    spread = "" if theirs.deviation is None else f" ± {theirs.deviation:.4f}"
    return f"{theirs.mean:.4f}{spread} ({'-'.join(map(str, theirs.hidden))})"


def _gain(verdict: Verdict) -> str:
    if not verdict.gains:
        return ""
    mean = f"{statistics.fmean(verdict.gains):+.4f}"
    return mean if verdict.interval is None else f"{mean} ± {verdict.interval:.4f}"


def _kept(cells: Sequence[str], filled: Sequence[bool]) -> tuple[str, ...]:
    return tuple(cell for cell, full in zip(cells, filled, strict=True) if full)
