"""Pictures made from reports, and from nothing else."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np

from keras_vaf.experiments.reports.report import Report, validation_loss
from keras_vaf.experiments.results.comparison_table import (
    baseline_title,
    by_arm,
    constant_score,
    metric_title,
    summarise,
    title_of,
)
from keras_vaf.experiments.runs.rows import network_seeds
from keras_vaf.layers import TrainableActivation
from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import draw_activation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^vP"
_OTHERS = "f of the other folds"


@style.styled
def comparison_figure(reports: Sequence[Report]) -> Figure:
    """Return the picture of a comparison.

    Above, the test score of every fold. Below, one row for each arm that trains its
    activations: what each hidden layer learned in the fold with the lowest validation
    loss, over the data that enters it, and faintly what it learned in the other folds.

    Args:
        reports: The reports of a comparison.

    Returns:
        The figure.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    arms = [arm for arm in by_arm(reports).values() if learned_layers(arm[0])]
    columns = max((len(learned_layers(arm[0])) for arm in arms), default=1)
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(10.0, 3.6 + 3.0 * len(arms))
    )
    grid = figure.add_gridspec(1 + len(arms), columns)
    _draw_scores(reports, figure.add_subplot(grid[0, :]))
    panels = []
    for row, arm in enumerate(arms, start=1):
        for column, layers in enumerate(zip(*map(learned_layers, arm), strict=True)):
            panels.append(figure.add_subplot(grid[row, column]))
            _draw_learned(arm, layers, column, panels[-1])
    style.legend_below(figure, panels)
    return figure


def _draw_scores(reports: Sequence[Report], ax: Axes) -> None:
    """Draw the test score of every fold, and mean and deviation at the right."""
    arms, rows = by_arm(reports), summarise(reports)
    first = next(iter(arms.values()))
    folds = np.arange(len(first))
    for place, row in enumerate(rows):
        shift = 0.5 * ((place + 0.5) / len(rows) - 0.5)
        color = style.CYCLE[place % len(style.CYCLE)]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(folds + shift, row.scores, marker, color=color, label=row.title)
        mean_place = len(folds) + 0.5 + shift
        ax.errorbar(
            mean_place, row.mean, row.deviation, fmt=marker, color=color, capsize=3
        )
    ax.set_xticks([*folds, len(folds) + 0.5], [*_fold_names(first), "mean"])
    ax.axvline(len(folds) - 0.25, color=style.GREY, lw=0.8)
    ax.grid(axis="x", visible=False)
    constant = f"{baseline_title(first[0].protocol)}: {constant_score(reports):.3g}"
    ax.set_xlabel("test fold")
    ax.set_ylabel(metric_title(first[0].protocol))
    ax.set_title(f"{title_of(reports)} ({constant})", pad=24)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=6, borderaxespad=0.2)


def _fold_names(arm: Sequence[Report]) -> list[str]:
    if len({report.seed for report in arm}) == 1:
        return [str(report.fold + 1) for report in arm]
    return [f"{report.fold + 1}\n({report.seed})" for report in arm]


def _draw_learned(
    arm: Sequence[Report],
    layers: Sequence[TrainableActivation],
    place: int,
    ax: Axes,
) -> None:
    """Draw one hidden layer's function in the best fold, and faintly in the others."""
    best = min(range(len(arm)), key=lambda fold: validation_loss(arm[fold]))
    quantiles = arm[best].activations[place]["inputs"]
    levels = np.linspace(0, 1, len(quantiles))
    data = np.interp(np.linspace(0, 1, 20_001), levels, quantiles)
    draw_activation(layers[best], data, ax)
    x = np.linspace(*ax.get_xlim(), 501)
    limits = ax.get_ylim()
    for curve in (layer.function(x) for layer in layers):
        if curve.ndim == 1:
            ax.plot(x, curve, color=style.BLUE, lw=0.7, alpha=0.4, label=_OTHERS)
    ax.set_ylim(limits)
    ax.set_title(
        f"{arm[0].protocol.variant.title}: hidden layer {place + 1}, "
        f"fold {arm[best].fold + 1}"
    )


def learned_layers(report: Report) -> list[TrainableActivation]:
    """Return the trainable activations of a report as layers with their weights.

    Args:
        report: A report.

    Returns:
        Those of its activations that belong to this package, in their order.
    """
    layers = []
    for activation in report.activations:
        layer = keras.layers.deserialize(activation["config"])
        if isinstance(layer, TrainableActivation):
            layer.set_weights([np.asarray(w) for w in activation["weights"].values()])
            layers.append(layer)
    return layers


def start_layers(report: Report) -> list[TrainableActivation]:
    """Return the trainable activations of a report as they were before training.

    They are drawn again from the seeds of the report's cell.

    Args:
        report: A report.

    Returns:
        The activations that `learned_layers` returns, at their start.
    """
    _, *seeds = network_seeds(report.cell, report.selected.start)
    layers = []
    for seed, learned in zip(seeds, learned_layers(report), strict=False):
        layer = report.protocol.variant.build(seed)
        if not layer.weights:
            layer.build(learned.get_build_config()["input_shape"])
        layers.append(layer)
    return layers


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    return buffer.getvalue()
