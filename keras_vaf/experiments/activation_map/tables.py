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
    *("steps", "step time", "learning rate", "tries", "certificate", "largest slope"),
)
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
        [*_verdicts(rows, tasks), *_how(rows, tasks)],
        ("task", "dataset", "activation", "error", "gain", "step time"),
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
    figure.colorbar(
        mesh, ax=ax, label="gain: log2 of the best fixed\nerror, divided by the error"
    )
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
        "learning rate": f"{row.rate:g}",
        "tries": str(row.tries),
    }
    if each is not None and math.isfinite(each.half_width):
        cells["interval"] = f"±{each.half_width:.2f}"
    for name in ("certificate", "largest_slope"):
        if name in row.more:
            cells[name.replace("_", " ")] = f"{row.more[name]:.6f}"
    return cells


def _verdicts(rows: Sequence[MapRow], tasks: Sequence[Task]) -> list[str]:
    """Return a sentence for each task, and a sentence with the number of wins."""
    gains = {
        task.name: found
        for task in tasks
        if (found := gain_of_task([r for r in rows if r.task == task.name])) is not None
    }
    counted = {task.name: task.counts for task in tasks}
    tested = {name: each for name, each in gains.items() if counted[name]}
    p_values = corrected(tested) if tested else {}
    texts, wins = [], 0
    for task in tasks:
        if task.name not in gains:
            texts.append(f"{task.title}: not complete.")
            continue
        each, p = gains[task.name], p_values.get(task.name)
        wins += p is not None and p < _LEVEL and each.mean > 0
        tested_text = "not counted" if p is None else f"p = {p:.3f} after Holm"
        own = [row for row in rows if row.task == task.name]
        rival = gain_of_task(own, "vaf", "rival")
        other = "" if rival is None else f", {2**-rival.mean:.3g} times the rival's"
        texts.append(
            f"{task.title}: the selected VAF has {2**-each.mean:.3g} times "
            f"the error of the selected fixed function ({tested_text}){other}."
        )
    return [
        *texts,
        f"The VAF is better with p < 0.05 on {wins} of {len(tested)} tasks.",
    ]


def _how(rows: Sequence[MapRow], tasks: Sequence[Task]) -> list[str]:
    tries = sorted({row.tries for row in rows})
    seeds = sorted({len(row.errors) for row in rows})
    return [
        "Gain: binary logarithm of the error of the fixed function chosen on "
        "validation data, divided by the error; 1 is half the error. Mean over seeds "
        "with its 95 % interval, paired by seed.",
        f"Each arm had {' or '.join(map(str, tries))} tries of the learning rate; "
        f"{' or '.join(map(str, seeds))} other seeds are scored. Errors are geometric "
        "means.",
        "Step time: relative to the first fixed function of the task. Tabular tasks "
        "have folds instead of seeds, and epochs instead of steps.",
        "The tasks were picked after pilots.",
    ]
