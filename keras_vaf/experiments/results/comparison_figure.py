"""`comparison_figure`, the picture of `compare`, made from reports."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_vaf.experiments.reports.report import Report, validation_loss
from keras_vaf.experiments.results.comparison_table import (
    baseline_title,
    metric_title,
    number_of,
    title_of,
)
from keras_vaf.experiments.results.learned import (
    inputs_of,
    learned_layers,
    start_layers,
)
from keras_vaf.experiments.results.result import reference_results, results_of
from keras_vaf.experiments.results.selection import by_protocol
from keras_vaf.experiments.results.table import written
from keras_vaf.layers import TrainableActivation
from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import draw_activation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vPX*<>"
_LEGEND_COLUMNS = 5
_OTHERS = "f of the other folds"


@style.styled
def comparison_figure(reports: Sequence[Report], scores: bool = True) -> Figure:
    """Return the picture of a comparison.

    The upper panel shows the test score of every fold. Below it, there is one row for
    each protocol with trainable activations. For each hidden layer, the row shows the
    function learned in the fold with the lowest validation loss, the histogram of its
    inputs, its start and, faintly, the functions learned in the other folds.

    Args:
        reports: The reports of a comparison.
        scores: Whether to draw the upper panel.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    learned = [own for own in by_protocol(reports).values() if learned_layers(own[0])]
    columns = max((len(learned_layers(own[0])) for own in learned), default=1)
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(10.0, 3.6 * scores + 3.0 * len(learned))
    )
    grid = figure.add_gridspec(scores + len(learned), columns)
    if scores:
        _draw_scores(reports, figure.add_subplot(grid[0, :]))
    panels = []
    for row, own in enumerate(learned, start=int(scores)):
        for column, layers in enumerate(zip(*map(learned_layers, own), strict=True)):
            panels.append(figure.add_subplot(grid[row, column]))
            _draw_learned(own, layers, column, panels[-1])
    style.legend_below(figure, panels)
    return figure


def _draw_scores(reports: Sequence[Report], ax: Axes) -> None:
    """Draw the test score of every fold, and the mean and deviation on the right."""
    results = [*results_of(reports), *reference_results(reports)]
    first = results[0]
    folds = np.arange(len(first.scores))
    for place, result in enumerate(results):
        shift = 0.5 * ((place + 0.5) / len(results) - 0.5)
        color = style.CYCLE[place % len(style.CYCLE)]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(folds + shift, result.scores, marker, color=color, label=result.title)
        mean = len(folds) + 0.5 + shift, result.mean, result.deviation
        ax.errorbar(*mean, fmt=marker, color=color, capsize=3)
    names = _fold_names(first.selected.reports)
    ax.set_xticks([*folds, len(folds) + 0.5], [*names, "mean"])
    ax.axvline(len(folds) - 0.25, color=style.GREY, lw=0.8)
    ax.grid(axis="x", visible=False)
    constant = written(statistics.fmean(first.baseline), number_of(first.metric))
    named = f"{baseline_title(first.protocol)}: {constant}"
    ax.set_xlabel("test fold")
    ax.set_ylabel(metric_title(first.protocol))
    rows = -(-len(results) // _LEGEND_COLUMNS)
    ax.set_title(f"{title_of(reports)} ({named})", pad=4 + 20 * rows)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=_LEGEND_COLUMNS,
        borderaxespad=0.2,
    )


def _fold_names(reports: Sequence[Report]) -> list[str]:
    if len({report.seed for report in reports}) == 1:
        return [str(report.fold + 1) for report in reports]
    return [f"{report.fold + 1}\n({report.seed})" for report in reports]


def _draw_learned(
    reports: Sequence[Report],
    layers: Sequence[TrainableActivation],
    place: int,
    ax: Axes,
) -> None:
    """Draw a hidden layer's function in the best fold and, faintly, in the others."""
    best = min(range(len(reports)), key=lambda fold: validation_loss(reports[fold]))
    draw_activation(layers[best], inputs_of(reports[best], place), ax)
    x = np.linspace(*ax.get_xlim(), 501)
    start = start_layers(reports[best])[place].function(x)
    if start.ndim == 1 and "start" not in ax.get_legend_handles_labels()[1]:
        ax.plot(x, start, "--", color=style.DARK, lw=1.2, label="start")
    limits = ax.get_ylim()
    for curve in (layer.function(x) for layer in layers):
        if curve.ndim == 1:
            ax.plot(x, curve, color=style.BLUE, lw=0.7, alpha=0.4, label=_OTHERS)
    ax.set_ylim(limits)
    ax.set_title(
        f"{reports[0].protocol.variant.title}: hidden layer {place + 1}, "
        f"fold {reports[best].fold + 1}"
    )
