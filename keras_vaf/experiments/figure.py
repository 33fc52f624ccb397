"""`comparison_figure`, the picture of a comparison."""

from textwrap import fill

import keras
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from keras_vaf.experiments.results import ARM, choose, models_of, score_of, select
from keras_vaf.experiments.tables import CONSTANT, table, task_of, text_of, written
from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import activation_inputs
from keras_vaf.layers.traversal import find_layers
from keras_vaf.training.data import number_of_rows, take
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import draw_activation

_WIDTH, _LETTERS = 5.5, 44  # inches, and letters in a line: for a phone
_SEED_WIDTH = 0.7  # of the folds of a model, in its row
_MOST_PANELS = 4
_MOST_ROWS = 2_000  # whose inputs are drawn


@style.styled
def comparison_figure(
    found: DataFrame, network: keras.Model, x: np.ndarray, title: str = "best.keras"
) -> Figure:
    """Return a picture of the scores, and of what a network learned of the inputs.

    Args:
        found: The records of a comparison.
        network: The network whose trainable activations are drawn.
        x: The inputs of the network.
        title: Where the network is from, for the titles of the functions.
    """
    learned = find_layers(network, TrainableActivation)
    shown = [*learned][:_MOST_PANELS]
    heights = [1.2 + 0.42 * len(table(found))] + [2.4] * len(shown)
    figure = Figure((_WIDTH, sum(heights)))
    axes = figure.subplots(len(heights), squeeze=False, height_ratios=heights)
    scores, *panels = axes[:, 0]
    _draw_scores(found, scores)
    step = max(1, number_of_rows(x) // _MOST_ROWS)
    some = take(x, slice(None, None, step))
    inputs = activation_inputs(network, some) if shown else {}
    for place, (path, ax) in enumerate(zip(shown, panels, strict=True), start=1):
        draw_activation(learned[path], inputs.get(path), ax)
        ax.set_title(f"{title}: activation {place} of {len(learned)}")
    style.legend_below(figure, panels)
    return figure


def _draw_scores(found: DataFrame, ax: Axes) -> None:
    """Draw a row for each model: the test score of every fold, mean and deviation."""
    models, task = models_of(found), task_of(found)
    selected, score = select(found), score_of(task)[0]
    best, names = choose(models), []
    groups = selected.groupby(ARM, sort=False)["test"]
    for place, (key, scores) in enumerate(groups):
        model = models.loc[[key]].iloc[0]
        color = style.BLUE if key == best else style.GREY
        spread = np.linspace(-0.5, 0.5, len(scores) + 2)[1:-1] * _SEED_WIDTH
        ax.plot(scores, place + spread, ".", color=color, alpha=0.6, ms=5)
        ax.errorbar(
            model["mean"], place, xerr=model["deviation"], fmt="D", color=color,
            capsize=3, ms=6, zorder=3,
        )  # fmt: skip
        mean = written(model["mean"], task)
        names.append(f"{fill(model['title'], _LETTERS // 2)}\n{mean}")
    ax.set_yticks(range(len(names)), names)
    ax.get_yticklabels()[models.index.get_loc(best)].set_color(style.BLUE)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"test {score}: folds, mean and deviation\nblue: best.keras")
    title = fill(text_of(found).title, _LETTERS)
    if task in CONSTANT:
        constant = table(found).iloc[-1]
        title += f"\n({constant.name}: {written(constant['mean'], task)})"
    ax.set_title(title)
