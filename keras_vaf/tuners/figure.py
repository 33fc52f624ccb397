"""`plot_trials`, the picture of the trials of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 8  # values of a hyperparameter for which a median and a label are drawn


@style.styled
def plot_trials(trials: pandas.DataFrame) -> Figure:
    """Draw the scores of the trials by value, with a panel for each hyperparameter.

    A line marks the median of each value.

    Args:
        trials: Trials from `CrossValidated(...).results()` or `search(...).trials`.

    Returns:
        The figure.

    Raises:
        ValueError: If no trial was completed.
        ImportError: If Matplotlib is not installed.
    """
    done = trials[trials["score"].notna()]
    if done.empty:
        raise ValueError(
            "A figure of a search needs a completed trial. Received: "
            f"{len(trials)} trials, none of them completed"
        )
    names = trials.columns[: trials.columns.get_loc("score")].drop("status", "ignore")
    names = [name for name in names if not name.startswith("tuner/")]
    kind = require("matplotlib.figure", extra="plot").Figure
    figure = kind((2.2 * len(names) + 1, 3.6))
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for name, panel in zip(names, panels, strict=True):
        _draw(done.dropna(subset=[name]), name, panel)
        panel.set_title(name)
    panels[0].set_ylabel("score")
    return figure


def _draw(trials: pandas.DataFrame, name: str, panel: Axes) -> None:
    scores = trials.groupby(name)["score"]
    if len(scores) > _MOST and not trials[name].map(type).eq(str).any():
        panel.plot(trials[name], trials["score"], "o", color=style.BLUE)
        return
    labels = []
    for place, (value, own) in enumerate(scores):
        panel.plot([place] * len(own), own, "o", color=style.PALE)
        panel.hlines(own.median(), place - 0.3, place + 0.3, color=style.BLUE, lw=2)
        labels.append(f"{value:.3g}" if isinstance(value, float) else str(value))
    panel.set_xticks(range(len(labels)), labels, rotation=45)
    panel.set_xlim(-0.5, len(labels) - 0.5)
