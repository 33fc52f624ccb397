"""`map_table` and `map_figure`, which show the map as a table and a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_vaf.experiments.activation_map.results import (
    Gain,
    MapRow,
    best_of,
    corrected,
    gain,
    gain_of_task,
)
from keras_vaf.experiments.activation_map.task import Task
from keras_vaf.experiments.results.table import Table
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = (
    *("task", "dataset", "activation", "error", "gain", "interval", "parameters"),
    *("steps", "step time", "compilation, s", "learning rate", "tries"),
    *("certificate", "largest slope"),
)
_SHOWN = ("task", "dataset", "activation", "error", "gain", "step time")
_COLOURS = "gain: log2 of the best fixed\nerror, divided by the error"
_LEVEL = 0.05
_DEEPEST = 2.0  # larger gains have the same colour
_DARK = 1.2  # larger gains have dark cells


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


@style.styled
def map_figure(rows: Sequence[MapRow], tasks: Sequence[Task]) -> Figure:
    """Return the picture of tasks and datasets by arms, with gains as colours.

    Args:
        rows: Rows of one budget.
        tasks: The tasks, for their order.
    """
    plt = require("matplotlib.pyplot", extra="plot")
    order = {task.name: task.title for task in tasks}
    places = list(dict.fromkeys((r.task, r.dataset) for r in rows))
    places.sort(key=lambda place: list(order).index(place[0]))
    arms = list(dict.fromkeys(row.arm.title for row in rows))
    values, texts = np.full((len(places), len(arms)), np.nan), {}
    for line, place in enumerate(places):
        own = [row for row in rows if (row.task, row.dataset) == place]
        fixed = best_of(own, "fixed")
        for row in own:
            each = gain(row, fixed) if fixed is not None else Gain((0.0,))
            column = arms.index(row.arm.title)
            values[line, column] = np.clip(each.mean, -_DEEPEST, _DEEPEST)
            texts[line, column] = _short(each)
    size = (2.5 + 0.62 * len(arms), 2.4 + 0.36 * len(places))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    mesh = ax.imshow(values, "PuOr", vmin=-_DEEPEST, vmax=_DEEPEST, aspect="auto")
    for (line, column), text in texts.items():
        color = "white" if abs(values[line, column]) > _DARK else style.DARK
        ax.text(column, line, text, ha="center", va="center", fontsize=6, color=color)
    ax.set_xticks(range(len(arms)), arms, rotation=60, ha="right")
    ax.set_yticks(range(len(places)), [f"{order[t]}: {d}" for t, d in places])
    ax.grid(visible=False)
    figure.colorbar(mesh, ax=ax, label=_COLOURS)
    return figure


def _short(each: Gain) -> str:
    if not math.isfinite(each.mean):
        return "diverged" if each.mean < 0 else "inf"
    width = each.half_width
    return f"{each.mean:+.2f}" + (f"\n±{width:.2f}" if math.isfinite(width) else "")


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
    of_task = {task.name: [r for r in rows if r.task == task.name] for task in tasks}
    gains = {name: gain_of_task(own) for name, own in of_task.items()}
    tested = {
        task.name: found
        for task in tasks
        if task.counts and (found := gains[task.name]) is not None
    }
    p_values = corrected(tested) if tested else {}
    wins = sum(p < _LEVEL and tested[name].mean > 0 for name, p in p_values.items())
    return [
        *(_verdict(t, of_task[t.name], p_values.get(t.name)) for t in tasks),
        f"The VAF is better with p < {_LEVEL} on {wins} of {len(tested)} tasks.",
    ]


def _verdict(task: Task, rows: Sequence[MapRow], p_value: float | None) -> str:
    each = gain_of_task(rows)
    if each is None:
        return f"{task.title}: not run."
    datasets = {row.dataset for row in rows}
    run = ""
    if len(datasets) < len(task.datasets):
        run = f", run on {len(datasets)} of {len(task.datasets)} datasets"
    tested = "not counted" if p_value is None else f"p = {p_value:.3f} after Holm"
    rival = gain_of_task(rows, "vaf", "rival")
    of_rival = "" if rival is None else f", {2**-rival.mean:.3g} times the rival's"
    return (
        f"{task.title}{run}: the selected VAF has {2**-each.mean:.3g} times the error "
        f"of the selected fixed function ({tested}){of_rival}."
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
