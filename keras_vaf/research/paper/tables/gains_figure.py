"""`gains_figure` and `draw_gains`, gains over reference activations on each dataset."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.research.paper.tables.summaries import (
    TITLES,
    Pair,
    Results,
    by_pair,
    holm_over_datasets,
    mean_errors,
)
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VAF = "vaf"
_MOST_COLUMNS = 4
_TITLE_WIDTH = 28  # characters
_MARGIN = 1.05
_WIDEST = 100.0


@style.styled
def gains_figure(found: Results) -> Figure:
    """Draw the gains of VAFs: one panel for each pair, one dot for each dataset.

    `draw_gains` describes the dots.

    Args:
        found: The results of a table.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    pairs = [pair for pair in by_pair(found) if pair[0].startswith(_VAF)]
    datasets = dict.fromkeys(dataset for dataset, _ in found)
    columns = min(_MOST_COLUMNS, max(1, len(pairs)))
    rows = max(1, math.ceil(len(pairs) / columns))
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.4 + 2.1 * columns, 0.9 + rows * (0.9 + 0.28 * len(datasets)))
    )
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    for ax, pair in zip(grid.flat, pairs, strict=False):
        draw_gains(found, pair, ax)
        names = (TITLES.get(name, name) for name in pair)
        lines = "\nagainst ".join(names).splitlines()
        text = "\n".join(textwrap.fill(line, _TITLE_WIDTH) for line in lines)
        ax.set_title(text, fontsize=9)
    for ax in grid.flat[len(pairs) :]:
        ax.set_visible(not pairs)
    figure.supxlabel("gain, % of the reference's error (better to the right)", size=10)
    return figure


def draw_gains(found: Results, pair: Pair, ax: Axes) -> None:
    """Draw the gains of an activation over its reference: one dot for each dataset.

    A dot is the mean gain in percent of the reference's error, with its corrected 95%
    interval; to the right of 0 the activation is better. It is blue or orange if the
    interval does not contain 0, and filled if p < 0.05 with Holm's correction for the
    datasets.

    Args:
        found: The results of a table.
        pair: The names of the activation and of its reference.
        ax: The axes to draw on.
    """
    own, corrected = by_pair(found)[pair], holm_over_datasets(found)
    datasets = list(dict.fromkeys(dataset for dataset, _ in found))
    widest = 1.0
    for place, dataset in enumerate(datasets):
        if dataset not in own:
            continue
        gain, interval = _in_percent(own[dataset])
        clear = abs(gain) > interval
        color = (style.BLUE if gain > 0 else style.ORANGE) if clear else style.GREY
        filled = corrected.get((dataset, *pair), 1.0) < LEVEL
        ax.errorbar(
            *(gain, place, None, interval),
            fmt="o",
            color=color,
            markerfacecolor=color if filled else "white",
            ms=4.5,
            capsize=2,
        )
        widest = max(widest, _MARGIN * (abs(gain) + interval))
    ax.axvline(0, color=style.DARK, lw=0.8)
    widest = min(widest, _WIDEST)
    ax.set_xlim(-widest, widest)
    ax.set_yticks(range(len(datasets)), datasets)
    ax.set_ylim(len(datasets) - 0.5, -0.5)
    ax.grid(axis="y", visible=False)


def _in_percent(result: Result) -> tuple[float, float]:
    """Return gain and half its interval, in percent of the reference's error."""
    own, reference = mean_errors(result)
    percent = 100 / (reference or 1.0)
    return percent * (reference - own), percent * (result.interval or 0.0)
