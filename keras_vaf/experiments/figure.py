"""`comparison_figure`, the picture of a comparison."""

from collections.abc import Iterator

import keras
import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from keras_vaf.experiments.results import ARM, CELL, select
from keras_vaf.experiments.tables import SCORE, table, task_of, title_of, written
from keras_vaf.layers import TrainableActivation
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import draw_activation

_MARKERS = "osD^vPX*<>"
_LEGEND_COLUMNS = 5


@style.styled
def comparison_figure(
    found: pandas.DataFrame, network: keras.Model, x: np.ndarray
) -> Figure:
    """Return the picture of a comparison, from its records and its best network.

    The upper panel shows the test score of every fold. The lower panels show the
    learned functions of the network, and histograms of their inputs for the rows `x`.
    """
    learned, panels = list(learned_layers(network, x)), []
    rows = 2 if learned else 1
    figure = Figure((10, 0.6 + 3 * rows))
    grid = figure.add_gridspec(rows, max(1, len(learned)))
    _draw_scores(found, figure.add_subplot(grid[0, :]))
    for place, (layer, inputs) in enumerate(learned):
        panels.append(figure.add_subplot(grid[1, place]))
        draw_activation(layer, inputs, panels[-1])
        panels[-1].set_title(f"best.keras: hidden layer {place + 1}")
    style.legend_below(figure, panels)
    return figure


def learned_layers(
    network: keras.Model, x: np.ndarray
) -> Iterator[tuple[TrainableActivation, np.ndarray]]:
    """Yield each trainable activation of a sequential network, and its inputs."""
    for layer in network.layers:
        if isinstance(layer, TrainableActivation):
            yield layer, keras.ops.convert_to_numpy(x)
        x = layer(x)


def _draw_scores(found: pandas.DataFrame, ax: Axes) -> None:
    """Draw the test score of every fold, and the mean and deviation on the right."""
    *models, constant = table(found).itertuples()
    selected, task = select(found).sort_values(CELL), task_of(found)
    cells = selected[CELL].drop_duplicates().values.tolist()
    folds = np.arange(len(cells))
    groups = selected.groupby(ARM, sort=False)["test"]
    for place, ((_, scores), model) in enumerate(zip(groups, models, strict=True)):
        shift = 0.5 * ((place + 0.5) / len(models) - 0.5)
        color = style.CYCLE[place % len(style.CYCLE)]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(folds + shift, scores, marker, color=color, label=model.Index)
        mean = len(folds) + 0.5 + shift, model.mean, model.deviation
        ax.errorbar(*mean, fmt=marker, color=color, capsize=3)
    several = selected["seed"].nunique() > 1
    names = [f"{fold + 1}" + f"\n({seed})" * several for seed, fold in cells]
    ax.set_xticks([*folds, len(folds) + 0.5], [*names, "mean"])
    ax.axvline(len(folds) - 0.25, color=style.GREY, lw=0.8)
    ax.grid(axis="x", visible=False)
    ax.set_xlabel("test fold")
    ax.set_ylabel(SCORE[task])
    constant = f"{constant.Index}: {written(constant.mean, task)}"
    rows = -(-len(models) // _LEGEND_COLUMNS)
    ax.set_title(f"{title_of(found)} ({constant})", pad=4 + 20 * rows)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=_LEGEND_COLUMNS)
