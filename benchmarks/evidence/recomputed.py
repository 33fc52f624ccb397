"""Recompute statements from finished trainings.

`python -m benchmarks.evidence.recomputed` reads the reports of the protocol `ours` and
the numbers of the paper. It writes `docs/reports/evidence/recomputed.md` and
`rates.png`. It trains nothing.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.evidence.ratios import cells, is_within
from keras_vaf.experiments import read
from keras_vaf.experiments.results.ratio import Ratio
from keras_vaf.experiments.results.selection import TEAMS
from keras_vaf.experiments.results.significance import holm
from keras_vaf.research.paper.published import CLASSIFICATION, REGRESSION
from keras_vaf.utils import markdown_table, require, write_atomically

REPORTS = Path("docs/reports/reproduction")
OUTPUT = Path("docs/reports/evidence")
METRICS = {"regression": "rmse", "classification": "accuracy"}
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
FEWEST = 6
"""Datasets that a ratio at one learning rate needs."""
PATIENCE = 30
RULES = {
    "validation loss": ["score", "loss"],
    "lower learning rate": ["score", "learning_rate"],
    "validation loss alone": ["loss"],
}
"""The columns by which a training is selected, smallest first. We use the first."""
OURS = RULES["validation loss"]
COLUMNS = ("error ratio", "95 % interval", "better : worse", "Wilcoxon p")
ARM = ["problem", "activation"]
FOLD = ["seed", "fold"]
NETWORK = [*ARM, "hidden", *FOLD]
TRAINING = [*NETWORK, "learning_rate", "start"]


def trainings(task: str) -> pd.DataFrame:
    """Return one row for each training of a task.

    `score` is the validation score and `loss` the validation loss, smaller is better;
    `error` is the test error. A diverged training has infinite ones.
    """
    frame = read(REPORTS / f"{task}-ours-jax.json.xz")
    frame = frame[frame.activation != "constant"].fillna({"value": float("inf")})
    numbers = frame.set_index([*TRAINING, "split", "metric"]).value.unstack([-2, -1])
    found = frame.drop_duplicates(TRAINING).set_index(TRAINING)
    found = found[["epochs", "best_epoch"]].assign(
        loss=numbers["validation", "loss"],
        score=numbers["validation", METRICS[task]],
        error=numbers["test", METRICS[task]],
    )
    if task == "classification":
        found.score, found.error = -found.score, 1 - found.error
    else:
        found["scaled"] = numbers["test", "scaled_rmse"]
    return found.reset_index()


def errors(frame: pd.DataFrame, rank: Sequence[str] = OURS) -> pd.Series:
    """Return the mean test error of every activation on every dataset.

    Validation rows select the learning rate in each fold, and the architecture. In a
    team, they select the activation, for a dataset or for each fold.

    Args:
        frame: The trainings.
        rank: Columns, smallest first.
    """
    by = list(rank)
    folds = frame.sort_values(by, kind="stable").drop_duplicates(NETWORK)
    chosen = _best(folds, [*ARM, "hidden"], by)
    parts = [chosen]
    for name, members in TEAMS.items():
        team = chosen[chosen.activation.isin(members)]
        complete = team.groupby("problem").activation.transform("nunique")
        team = team[complete == len(members)]
        place = team.activation.map(members.index)  # of equal ones, the first counts
        each = team.assign(place=place).sort_values([*by, "place"])
        each = each.drop_duplicates(["problem", *FOLD])
        parts.append(_best(team, ARM, by).assign(activation=name))
        parts.append(each.assign(activation=f"{name}-fold"))
    return pd.concat(parts).groupby(ARM).error.mean()


def _best(frame: pd.DataFrame, keys: list[str], by: list[str]) -> pd.DataFrame:
    """Return the rows with the value of the last key that has the smallest means."""
    means = frame.groupby(keys, sort=False)[by].mean().sort_values(by, kind="stable")
    first = means.reset_index().drop_duplicates(keys[:-1])[keys]
    return frame.merge(first, on=keys)


def ratio(found: pd.Series, arm: str, reference: str) -> Ratio:
    """Return the ratios of the errors of two activations over their common datasets.

    Args:
        found: The errors.
        arm: Name of an activation.
        reference: Name of the other one.
    """
    table = found.unstack("activation").reindex(columns=[arm, reference]).dropna()
    return Ratio.of(table[arm], table[reference])


def headline(task: str, frame: pd.DataFrame) -> str:
    """Return the table of all comparisons of a task, with equivalence."""
    found = errors(frame)
    ratios = [ratio(found, *pair) for pair in HEADLINE]
    corrected = holm([each.p for each in ratios])
    bound = BOUNDS[task]
    lines = [
        [*pair, *cells(each), f"{p:.3f}", "yes" if is_within(each, bound) else "no"]
        for pair, each, p in zip(HEADLINE, ratios, corrected, strict=True)
    ]
    columns = ["activation", "against", *COLUMNS, "p (Holm, table)"]
    columns.append(f"within {bound:.0%}".replace("%", " %"))
    return markdown_table(columns, lines, text_columns=2)


def at_rates(frame: pd.DataFrame) -> dict[tuple[float, str, str], Ratio]:
    """Return the ratios of errors at each learning rate that enough datasets have."""
    found = {}
    for rate in RATES:
        own = errors(frame[frame.learning_rate == rate])
        for pair in CURVES:
            each = ratio(own, *pair)
            if len(each.logs) >= FEWEST:
                found[rate, *pair] = each
    return found


def rates_table(ratios: dict[tuple[float, str, str], Ratio]) -> str:
    """Return the ratios of errors at each learning rate as a table."""
    lines = [
        [f"{rate}", *pair, str(len(each.logs)), *cells(each)]
        for (rate, *pair), each in ratios.items()
    ]
    columns = ["learning rate", "activation", "against", "datasets", *COLUMNS]
    return markdown_table(columns, lines, text_columns=3)


def ties_table(frame: pd.DataFrame) -> str:
    """Return ratios for three rules that select among equal validation accuracies."""
    lines = [
        [name, *pair, *cells(ratio(errors(frame, rank), *pair))]
        for name, rank in RULES.items()
        for pair in HEADLINE[1:6]
    ]
    columns = ["selection by accuracy, then", "activation", "against", *COLUMNS]
    return markdown_table(columns, lines, text_columns=3)


def stops_table(frame: pd.DataFrame, dataset: str = "puma32h") -> str:
    """Return where trainings with small learning rates stop on a dataset."""
    groups = frame[frame.problem == dataset].groupby(
        ["activation", "hidden", "learning_rate"]
    )
    lines = []
    arms = ("silu", "vaf-silu", "relu", "vaf-relu")
    for hidden, arm, rate in itertools.product(("50-25", "100-50"), arms, RATES[:3]):
        if (arm, hidden, rate) in groups.groups:
            own = groups.get_group((arm, hidden, rate))
            scaled, best = own.scaled, own.best_epoch.astype(int)
            stopped = int((own.epochs - own.best_epoch == PATIENCE).sum())
            lines.append(
                [
                    *(hidden, arm, f"{rate}"),
                    f"{scaled.min():.3f} to {scaled.max():.3f}",
                    f"{best.min()} to {best.max()}",
                    f"{stopped} of {len(own)}",
                ]
            )
    columns = ["hidden", "activation", "learning rate", "scaled RMSE of the folds"]
    columns += ["best epoch", "stopped by patience"]
    return markdown_table(columns, lines, text_columns=2)


def published_table() -> str:
    """Return how often the paper's VAFs are better than its ReLU networks."""
    lines = []
    for task, numbers in zip(METRICS, (REGRESSION, CLASSIFICATION), strict=True):
        sign = 1 if task == "regression" else -1
        own = {(each.dataset, each.variant): each for each in numbers}
        datasets = sorted({each.dataset for each in numbers})
        for arms in (("vaf-random",), ("vaf-relu",), ("vaf-random", "vaf-relu")):
            better = clear = 0
            for dataset in datasets:
                relu = own[dataset, "relu"]
                vafs = [own[dataset, arm] for arm in arms]
                best = min(vafs, key=lambda each: sign * each.mean)
                gain = sign * (relu.mean - best.mean)
                better += gain > 0
                clear += gain > max(relu.deviation, best.deviation)
            name = " or ".join(arms) + (", the better one" if len(arms) > 1 else "")
            count = f"{better} of {len(datasets)}"
            lines.append([task, name, count, f"{clear} of {len(datasets)}"])
    columns = ["task", "activation", "better than ReLU"]
    columns.append("by more than both standard deviations")
    return markdown_table(columns, lines, text_columns=2)


def picture(tasks: dict[str, dict[tuple[float, str, str], Ratio]], path: Path) -> None:
    """Draw the ratios of errors over the learning rate.

    Args:
        tasks: The ratios of each task, as `at_rates` returns them.
        path: The picture.
    """
    pyplot = require("matplotlib.pyplot", extra="plot")
    figure, axes = pyplot.subplots(
        1, 2, figsize=(10, 4), sharey=True, layout="constrained"
    )
    for axis, (task, ratios) in zip(axes, tasks.items(), strict=True):
        for pair in CURVES:
            points = [
                (rate, each.mean, *each.interval())
                for (rate, *own), each in ratios.items()
                if tuple(own) == pair
            ]
            rates, means, low, high = zip(*points, strict=True)
            [line] = axis.plot(rates, means, "o-", label=" / ".join(pair))
            if pair[0].startswith("vaf"):
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
    tasks = {task: trainings(task) for task in METRICS}
    ratios = {task: at_rates(frame) for task, frame in tasks.items()}
    tables = {
        "published": published_table(),
        "ties": ties_table(tasks["classification"]),
        "stops": stops_table(tasks["regression"]),
    }
    for task, frame in tasks.items():
        tables[f"headline-{task}"] = headline(task, frame)
        tables[f"rates-{task}"] = rates_table(ratios[task])
    text = (Path(__file__).parent / "recomputed.md").read_text(encoding="utf-8")
    for name, table in tables.items():
        text = text.replace(f"<!-- {name} -->", table)
    write_atomically(OUTPUT / "recomputed.md", text)
    picture(ratios, OUTPUT / "rates.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
