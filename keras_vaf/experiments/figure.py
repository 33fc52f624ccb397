"""`comparison_figure`, the picture of a comparison."""

import keras
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from keras_vaf.experiments.results import ARM, CELL, select
from keras_vaf.experiments.tables import SCORE, table, task_of, text_of, written
from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import activation_inputs
from keras_vaf.layers.traversal import find_layers
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import draw_activation

_MARKERS = "osD^vPX*<>"
_LEGEND_COLUMNS = 5


@style.styled
def comparison_figure(found: DataFrame, network: keras.Model, x: np.ndarray) -> Figure:
    """Return a picture of the scores, and of what the best network learned of `x`."""
    learned = find_layers(network, TrainableActivation)
    rows = 2 if learned else 1
    figure = Figure((10, 0.6 + 3 * rows))
    grid = figure.add_gridspec(rows, max(1, len(learned)))
    _draw_scores(found, figure.add_subplot(grid[0, :]))
    panels = [figure.add_subplot(grid[1, place]) for place in range(len(learned))]
    inputs = activation_inputs(network, x)
    for place, (path, ax) in enumerate(zip(learned, panels, strict=True), start=1):
        draw_activation(learned[path], inputs[path], ax)
        ax.set_title(f"best.keras: hidden layer {place}")
    style.legend_below(figure, panels)
    return figure


def _draw_scores(found: DataFrame, ax: Axes) -> None:
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
    ax.set_title(f"{text_of(found).title} ({constant})", pad=4 + 20 * rows)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=_LEGEND_COLUMNS)
