"""`map_figure`, which shows the gains of the map as a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.research.map.results import Gain, MapRow, best_of, gain
from keras_vaf.research.map.task import Task
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EXPLANATION = (
    "gain: log2(error of the chosen fixed function / error)\n"
    "1 is half the error. Purple: smaller error. Bold: 95 % interval without 0."
)
_DEEPEST = 2.0  # larger gains have the same colour
_DARK = 1.2  # larger gains have dark cells
_CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
_SLANTED: dict[str, Any] = {"ha": "right", "rotation": 45, "rotation_mode": "anchor"}


@style.styled
def map_figure(rows: Sequence[MapRow], tasks: Sequence[Task]) -> Figure:
    """Return a picture with a panel for each task: datasets by arms, gains as colours.

    Args:
        rows: Rows of one budget.
        tasks: The tasks, for their titles and their order.
    """
    plt = require("matplotlib.pyplot", extra="plot")
    of_task = {t.title: [row for row in rows if row.task == t.name] for t in tasks}
    shown = {title: own for title, own in of_task.items() if own}
    lines = [len(_datasets(own)) for own in shown.values()] or [1]
    most = max((len(_arms(own)) for own in shown.values()), default=1)
    figure, axes = plt.subplots(
        len(lines),
        squeeze=False,
        figsize=(2.0 + 0.5 * most, 0.8 + 0.34 * sum(lines) + 1.5 * len(lines)),
        height_ratios=lines,
        layout="constrained",
    )
    for ax, (title, own) in zip(axes[:, 0], shown.items(), strict=False):
        _panel(ax, own)
        ax.set_xlim(-0.5, most - 0.5)  # the cells of all panels are equally wide
        ax.set_title(title)
    figure.supxlabel(_EXPLANATION, fontsize=8, x=0.01, ha="left")
    return figure


def _panel(ax: Axes, rows: Sequence[MapRow]) -> None:
    """Draw the gains of a task over the fixed function that is chosen on a dataset."""
    datasets, arms = _datasets(rows), _arms(rows)
    values = np.full((len(datasets), len(arms)), np.nan)
    for row in rows:
        fixed = best_of([r for r in rows if r.dataset == row.dataset], "fixed")
        each = gain(row, fixed) if fixed is not None else Gain((0.0,))
        line, column = datasets.index(row.dataset), arms.index(row.arm.title)
        value = values[line, column] = np.clip(each.mean, -_DEEPEST, _DEEPEST)
        ax.text(
            column,
            line,
            _short(each),
            color="white" if abs(value) > _DARK else style.DARK,
            weight="bold" if abs(each.mean) > each.half_width else "normal",
            **_CENTRED,
        )
    ax.imshow(values, "PuOr", vmin=-_DEEPEST, vmax=_DEEPEST, aspect="auto")
    ax.set_xticks(range(len(arms)), arms, **_SLANTED)
    ax.set_yticks(range(len(datasets)), datasets)
    ax.grid(visible=False)


def _short(each: Gain) -> str:
    if math.isfinite(each.mean):
        return f"{each.mean:+.2f}"
    return "div." if each.mean < 0 else "inf"


def _datasets(rows: Sequence[MapRow]) -> list[str]:
    return list(dict.fromkeys(row.dataset for row in rows))


def _arms(rows: Sequence[MapRow]) -> list[str]:
    return list(dict.fromkeys(row.arm.title for row in rows))
