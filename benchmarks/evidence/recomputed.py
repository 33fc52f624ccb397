"""Recompute statements from finished trainings.

`python -m benchmarks.evidence.recomputed` reads the reports of the protocol `ours` and
the numbers of the paper. It writes `docs/reports/evidence/recomputed.md` and
`rates.png`. It trains nothing.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks.evidence.ratios import (
    Ratio,
    by_loss,
    by_loss_alone,
    by_rate,
    error_of,
)
from keras_vaf.experiments.reports.report import Report, Trial
from keras_vaf.experiments.reports.report_files import read_reports
from keras_vaf.experiments.results.selection import TEAMS
from keras_vaf.experiments.results.significance import holm
from keras_vaf.research.paper.published import CLASSIFICATION, REGRESSION
from keras_vaf.utils import markdown_table, require, write_atomically

REPORTS = Path("docs/reports/reproduction")
OUTPUT = Path("docs/reports/evidence")
BOUNDS = {"regression": 0.03, "classification": 0.1}
HEADLINE = (
    *(("vaf-silu", "relu"), ("vaf-silu", "silu"), ("vaf-silu", "best-fixed")),
    ("vaf-silu", "best-fixed-fold"),
    *(("vaf-relu", "relu"), ("vaf-random", "relu"), ("vaf-best", "best-fixed")),
    *(("gelu", "relu"), ("silu", "relu"), ("tanh", "relu"), ("prelu", "relu")),
)
CURVES = (
    *(("vaf-silu", "silu"), ("vaf-relu", "relu"), ("vaf-random", "relu")),
    *(("prelu", "relu"), ("gelu", "relu"), ("silu", "relu"), ("tanh", "relu")),
)
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.09)
COLUMNS = ("error ratio", "95 % interval", "better : worse", "Wilcoxon p")

Errors = dict[tuple[str, str], float]
Rank = Callable[[Trial], tuple[float, ...]]


def errors(
    reports: Iterable[Report], rank: Rank = by_loss, rate: float | None = None
) -> Errors:
    """Return the mean test error of every activation on every dataset.

    Validation rows select the learning rate in each fold, and the architecture.

    Args:
        reports: The reports.
        rank: Key of trainings, smallest first.
        rate: The only learning rate that is considered; `None` for all.
    """
    chosen: dict[tuple[str, str], dict[tuple[int, ...], dict[tuple[int, int], Trial]]]
    chosen = defaultdict(lambda: defaultdict(dict))
    metrics: dict[str, str] = {}
    for report in reports:
        protocol = report.protocol
        metrics[protocol.dataset] = protocol.metric
        trials = [t for t in report.trials if rate is None or t.rate == rate]
        own = chosen[protocol.dataset, protocol.variant.name][protocol.hidden]
        place = report.seed, report.fold
        for trial in trials:
            own[place] = min(own.get(place, trial), trial, key=rank)
    found: dict[tuple[str, str], list[Trial]] = {}
    for key, architectures in chosen.items():
        candidates = [list(each.values()) for each in architectures.values() if each]
        if candidates:
            found[key] = min(candidates, key=lambda each: _mean_rank(each, rank))
    for name, members in TEAMS.items():
        for dataset in metrics:
            team = [found[dataset, arm] for arm in members if (dataset, arm) in found]
            if len(team) == len(members):
                found[dataset, name] = min(team, key=lambda t: _mean_rank(t, rank))
                cells = zip(*team, strict=True)
                found[dataset, f"{name}-fold"] = [min(c, key=rank) for c in cells]
    return {
        (dataset, arm): statistics.fmean(error_of(t, metrics[dataset]) for t in trials)
        for (dataset, arm), trials in found.items()
    }


def _mean_rank(trials: Sequence[Trial], rank: Rank) -> tuple[float, ...]:
    return tuple(map(statistics.fmean, zip(*map(rank, trials), strict=True)))


def ratio(found: Errors, arm: str, reference: str) -> Ratio:
    """Return the ratios of the errors of two activations over datasets.

    Args:
        found: The errors.
        arm: Name of an activation.
        reference: Name of the other one.
    """
    pairs = [
        (found[dataset, arm], found[dataset, reference])
        for dataset in sorted({dataset for dataset, _ in found})
        if (dataset, arm) in found and (dataset, reference) in found
    ]
    return Ratio.of(*zip(*pairs, strict=True))


def headline(task: str, reports: Sequence[Report]) -> str:
    """Return the table of all comparisons of a task, with equivalence."""
    found = errors(reports)
    ratios = [ratio(found, *pair) for pair in HEADLINE]
    corrected = holm([each.p for each in ratios])
    lines = [
        [arm, against, *each.cells(), f"{p:.3f}", _word(each.is_within(BOUNDS[task]))]
        for (arm, against), each, p in zip(HEADLINE, ratios, corrected, strict=True)
    ]
    bound = f"within {BOUNDS[task]:.0%}".replace("%", " %")
    columns = ["activation", "against", *COLUMNS, "p (Holm, table)", bound]
    return markdown_table(columns, lines, text_columns=2)


def _word(answer: bool) -> str:
    return "yes" if answer else "no"


def rates_table(reports: Sequence[Report]) -> str:
    """Return the ratios of errors at each learning rate."""
    lines = []
    for rate in RATES:
        found = errors(reports, rate=rate)
        for pair in CURVES:
            datasets = {d for d, arm in found if arm == pair[0]}
            if len(datasets & {d for d, arm in found if arm == pair[1]}) > 5:
                each = ratio(found, *pair)
                lines.append([f"{rate}", *pair, str(len(each.logs)), *each.cells()])
    columns = ["learning rate", "activation", "against", "datasets", *COLUMNS]
    return markdown_table(columns, lines, text_columns=3)


def ties_table(reports: Sequence[Report]) -> str:
    """Return ratios for three rules that select among equal validation accuracies."""
    rules = {
        "validation loss": by_loss,
        "lower learning rate": by_rate,
        "validation loss alone": by_loss_alone,
    }
    lines = [
        [name, *pair, *ratio(errors(reports, rank), *pair).cells()]
        for name, rank in rules.items()
        for pair in HEADLINE[1:6]
    ]
    columns = ["selection by accuracy, then", "activation", "against", *COLUMNS]
    return markdown_table(columns, lines, text_columns=3)


def stops_table(reports: Sequence[Report], dataset: str = "puma32h") -> str:
    """Return where trainings with small learning rates stop on a dataset."""
    lines = []
    for hidden in ((50, 25), (100, 50)):
        for arm in ("silu", "vaf-silu", "relu", "vaf-relu"):
            for rate in RATES[:3]:
                trials = [
                    trial
                    for report in reports
                    if (report.protocol.dataset, report.protocol.hidden)
                    == (dataset, hidden)
                    and report.protocol.variant.name == arm
                    for trial in report.trials
                    if trial.rate == rate
                ]
                if trials:
                    scores = sorted(trial.scores["scaled_rmse"] for trial in trials)
                    best = sorted(trial.best_epoch for trial in trials)
                    stopped = sum(trial.stopped == "patience" for trial in trials)
                    lines.append(
                        [
                            "-".join(map(str, hidden)),
                            *(arm, f"{rate}", f"{scores[0]:.3f} to {scores[-1]:.3f}"),
                            *(
                                f"{best[0]} to {best[-1]}",
                                f"{stopped} of {len(trials)}",
                            ),
                        ]
                    )
    columns = ["hidden", "activation", "learning rate", "scaled RMSE of the folds"]
    columns += ["best epoch", "stopped by patience"]
    return markdown_table(columns, lines, text_columns=2)


def published_table() -> str:
    """Return how often the paper's VAFs are better than its ReLU networks."""
    lines = []
    for task, numbers in (
        ("regression", REGRESSION),
        ("classification", CLASSIFICATION),
    ):
        sign = 1 if task == "regression" else -1
        own = {(each.dataset, each.variant): each for each in numbers}
        datasets = sorted({each.dataset for each in numbers})
        for arms in (("vaf-random",), ("vaf-relu",), ("vaf-random", "vaf-relu")):
            better = clear = 0
            for dataset in datasets:
                relu = own[dataset, "relu"]
                best = min(
                    (own[dataset, arm] for arm in arms),
                    key=lambda each: sign * each.mean,
                )
                gain = sign * (relu.mean - best.mean)
                better += gain > 0
                clear += gain > max(relu.deviation, best.deviation)
            name = " or ".join(arms) + (", the better one" if len(arms) > 1 else "")
            count = f"{better} of {len(datasets)}"
            lines.append([task, name, count, f"{clear} of {len(datasets)}"])
    columns = ["task", "activation", "better than ReLU"]
    columns.append("by more than both standard deviations")
    return markdown_table(columns, lines, text_columns=2)


def picture(tasks: dict[str, list[Report]], path: Path) -> None:
    """Draw the ratios of errors over the learning rate.

    Args:
        tasks: The reports of each task.
        path: The picture.
    """
    pyplot = require("matplotlib.pyplot", extra="plot")
    figure, axes = pyplot.subplots(
        1, 2, figsize=(10, 4), sharey=True, layout="constrained"
    )
    for axis, (task, reports) in zip(axes, tasks.items(), strict=True):
        for arm, reference in CURVES:
            points = []
            for rate in RATES:
                found = errors(reports, rate=rate)
                if sum(name == arm for _, name in found) > 5:
                    each = ratio(found, arm, reference)
                    points.append((rate, each.mean, *each.interval()))
            rates, means, low, high = zip(*points, strict=True)
            [line] = axis.plot(rates, means, "o-", label=f"{arm} / {reference}")
            if arm.startswith("vaf"):
                axis.fill_between(rates, low, high, color=line.get_color(), alpha=0.1)
        axis.axhline(1, color="gray", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel="learning rate", title=f"{task}s")
    axes[0].set_ylabel("error divided by that of the reference")
    axes[0].set_ylim(0.5, 2)
    axes[0].set_yticks([0.5, 0.7, 1, 1.4, 2], ["0.5", "0.7", "1", "1.4", "2"])
    axes[0].minorticks_off()
    axes[1].legend(fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Write the page."""
    tasks = {
        task: read_reports(REPORTS / f"{task}-ours-jax.json.xz") for task in BOUNDS
    }
    text = (Path(__file__).parent / "recomputed.md").read_text(encoding="utf-8")
    tables = {
        "published": published_table(),
        "ties": ties_table(tasks["classification"]),
        "stops": stops_table(tasks["regression"]),
    }
    for task, reports in tasks.items():
        tables[f"headline-{task}"] = headline(task, reports)
        tables[f"rates-{task}"] = rates_table(reports)
    for name, table in tables.items():
        text = text.replace(f"<!-- {name} -->", table)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    write_atomically(OUTPUT / "recomputed.md", text)
    picture(tasks, OUTPUT / "rates.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
