"""`map_table` and `verdicts`, which show the map as a table and as sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from keras_vaf.experiments.results.notes import p_value as as_text
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.experiments.results.table import Table
from keras_vaf.research.map.results import (
    MapRow,
    TaskGain,
    best_of,
    gain,
    gain_of_task,
    gains_of_tasks,
)
from keras_vaf.research.map.task import Task

_COLUMNS = (
    *("task", "dataset", "activation", "error", "gain", "interval", "parameters"),
    *("steps", "step time", "compilation, s", "learning rate", "tries"),
    *("certificate", "largest slope"),
)
_SHOWN = ("task", "dataset", "activation", "error", "gain", "step time")


def map_table(rows: Sequence[MapRow], tasks: Sequence[Task]) -> Table:
    """Return the table of all arms, with a verdict for each task.

    Args:
        rows: Rows of one budget.
        tasks: The tasks, for their titles.
    """
    lines = []
    for task in tasks:
        for dataset in task.datasets:
            own = [r for r in rows if (r.task, r.dataset) == (task.name, dataset)]
            fixed = best_of(own, "fixed")
            lines += [_cells(task, row, fixed, own) for row in own]
    budget = rows[0].budget if rows else "steps"
    return Table.of(
        f"The map, at equal {budget}",
        _COLUMNS,
        lines,
        [*verdicts(rows, tasks), *_how(rows)],
        (*_SHOWN, "compilation, s"),
    )


def _cells(
    task: Task, row: MapRow, fixed: MapRow | None, own: Sequence[MapRow]
) -> dict[str, str]:
    """Return the cells of a row of the table, by column title."""
    each = gain(row, fixed) if fixed is not None else None
    chosen = row in (best_of(own, "vaf"), fixed)
    cells = {
        "task": task.title,
        "dataset": row.dataset,
        "activation": row.arm.title + (" (chosen)" if chosen else ""),
        "error": f"{row.error:.4g}",
        "gain": "" if each is None else f"{each.mean:+.2f}",
        "parameters": f"{row.parameters:,}",
        "steps": f"{row.steps:,}",
        "step time": "" if row.ratio is None else f"{row.ratio:.2f}",
        "compilation, s": "" if row.compilation is None else f"{row.compilation:.1f}",
        "learning rate": f"{row.rate:g}",
        "tries": str(row.tries),
    }
    if each is not None and math.isfinite(each.half_width):
        cells["interval"] = f"±{each.half_width:.2f}"
    for name in ("certificate", "largest_slope"):
        if name in row.more:
            cells[name.replace("_", " ")] = f"{row.more[name]:.6f}"
    return cells


def verdicts(rows: Sequence[MapRow], tasks: Sequence[Task]) -> list[str]:
    """Return a sentence for each task, and a sentence with the number of wins.

    Args:
        rows: Rows of one budget.
        tasks: The tasks, including those without results.
    """
    gains = gains_of_tasks(rows, tasks)
    tested = [each for each in gains.values() if each.p_value is not None]
    wins = sum(each.is_significant and each.gain.mean > 0 for each in tested)
    return [
        *(_verdict(task, rows, gains.get(task.name)) for task in tasks),
        f"The VAF is better with p < {LEVEL} on {wins} of {len(tested)} tasks.",
    ]


def _verdict(task: Task, rows: Sequence[MapRow], each: TaskGain | None) -> str:
    if each is None:
        return f"{task.title}: not run."
    own = [row for row in rows if row.task == task.name]
    datasets = {row.dataset for row in own}
    run = ""
    if len(datasets) < len(task.datasets):
        run = f", run on {len(datasets)} of {len(task.datasets)} datasets"
    p_value = each.p_value
    tested = "not counted" if p_value is None else f"p {as_text(p_value)} after Holm"
    rival = gain_of_task(own, "vaf", "rival")
    of_rival = "" if rival is None else f", {rival.ratio_text} times the rival's"
    return (
        f"{task.title}{run}: the selected VAF has {each.gain.ratio_text} times the "
        f"error of the selected fixed function ({tested}){of_rival}."
    )


def _how(rows: Sequence[MapRow]) -> list[str]:
    tries = sorted({row.tries for row in rows})
    seeds = sorted({len(row.errors) for row in rows})
    loads = [row.load for row in rows if row.load is not None]
    idle = ""
    if loads:
        idle = f" Measured at a load of {min(loads):.1f} to {max(loads):.1f}."
    return [
        "Gain: binary logarithm of the error of the fixed function chosen on "
        "validation data, divided by the error; 1 is half the error. Mean over seeds "
        "with its 95 % interval, paired by seed.",
        f"Each arm had {' or '.join(map(str, tries))} tries of the learning rate; "
        f"{' or '.join(map(str, seeds))} other seeds are scored. Errors are geometric "
        "means.",
        "Step time: relative to the first fixed function of the task, without "
        f"compilation.{idle} Tabular tasks have folds instead of seeds, and epochs "
        "instead of steps.",
        "The tasks were picked after pilots.",
    ]
