"""The six panels of the paper's first experiment: accuracy over k."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from keras_vaf.utils import deviation, require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The rows of panels, as (sharing, words in the title).
_ROWS = (("neuron", "not shared"), ("layer", "shared"))
_COLORS = {"tanh": style.BLUE, "relu": style.ORANGE}
_MARKS = {"random": "o-", "rescaled": "^:", "specific": "s--"}


@style.styled
def panels_of(scores: Mapping[Any, Sequence[float]]) -> Figure:
    """Draw test accuracy over k: unshared VAFs in the upper row, shared ones below.

    Each column is a width of the hidden layer with VAFs. A dotted line is the fixed
    activation; bars are standard deviations over the repeats.

    Args:
        scores: Test scores of each network, by its `Setting`.

    Returns:
        The figure.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    vafs = [setting for setting in scores if setting.k]
    widths = sorted({setting.hidden for setting in vafs or scores})
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(max(9.0, 1.5 + 3.6 * len(widths)), 6.4)
    )
    grid = figure.subplots(
        len(_ROWS), len(widths), sharex=True, sharey=True, squeeze=False
    )
    for row, (sharing, name) in zip(grid, _ROWS, strict=True):
        for ax, width in zip(row, widths, strict=True):
            own = {
                setting: values
                for setting, values in scores.items()
                if setting.hidden == width and setting.sharing in ("", sharing)
            }
            _draw_panel(own, ax)
            ax.set_title(f"{width} hidden neurons, VAFs {name}")
        row[0].set_ylabel("test accuracy")
    for ax in grid[-1]:
        ax.set_xlabel("k")
    style.legend_below(figure, grid.ravel())
    return figure


def _draw_panel(scores: Mapping[Any, Sequence[float]], ax: Axes) -> None:
    lines: dict[tuple[str, str], list[tuple[int, Sequence[float]]]] = {}
    for setting, values in scores.items():
        lines.setdefault((setting.g, setting.start), []).append((setting.k, values))
    for (g, start), points in lines.items():
        color = _COLORS[g]
        if not start:
            mean = statistics.fmean(points[0][1])
            ax.axhline(mean, color=color, ls=":", lw=1.5, label=f"{g}, no VAF")
            continue
        ks, values = zip(*sorted(points), strict=True)
        means = [statistics.fmean(each) for each in values]
        spreads = [deviation(each) for each in values]
        label = f"g = {g}, {start} start"
        ax.plot(ks, means, _MARKS[start], color=color, lw=1.5, ms=4, label=label)
        ax.errorbar(ks, means, spreads, fmt="none", color=color, capsize=2, lw=1)
        ax.set_xticks(ks)
