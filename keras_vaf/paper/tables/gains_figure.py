"""`gains_figure`: how much better VAFs are than their references, on each dataset."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from keras_vaf.experiments.reports.report import error
from keras_vaf.experiments.results.result import Result
from keras_vaf.paper.tables.summaries import TITLES, Results, by_pair
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VAF = "vaf"
_MARGIN = 1.05
_WIDEST = 100.0


@style.styled
def gains_figure(found: Results) -> Figure:
    """Draw the gains of VAFs: one panel for each pair, one dot for each dataset.

    A dot is the mean gain in percent of the reference's error, with its corrected 95%
    interval; to the right of 0 the VAF is better. Intervals without 0 are blue where
    the VAF is better, and orange where it is worse.

    Args:
        found: The results of a table.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    pairs = {
        pair: own for pair, own in by_pair(found).items() if pair[0].startswith(_VAF)
    }
    datasets = list(dict.fromkeys(dataset for dataset, _ in found))[::-1]
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.4 + 2.1 * max(1, len(pairs)), 1.6 + 0.28 * len(datasets))
    )
    panels = figure.subplots(1, max(1, len(pairs)), sharey=True, squeeze=False)[0]
    for ax, (pair, own) in zip(panels, pairs.items(), strict=False):
        _draw(own, datasets, ax)
        names = (TITLES.get(name, name) for name in pair)
        ax.set_title("\nagainst ".join(names), fontsize=9)
    panels[0].set_yticks(range(len(datasets)), datasets)
    figure.supxlabel("gain, % of the reference's error (better to the right)", size=10)

    return figure


def _draw(own: dict[str, Result], datasets: list[str], ax: Axes) -> None:
    """Draw the panel of a pair."""
    widest = 1.0
    for place, dataset in enumerate(datasets):
        if dataset not in own:
            continue
        gain, interval = _in_percent(own[dataset])
        clear = abs(gain) > interval
        color = (style.BLUE if gain > 0 else style.ORANGE) if clear else style.GREY
        ax.errorbar(gain, place, xerr=interval, fmt="o", color=color, ms=4, capsize=2)
        widest = max(widest, _MARGIN * (abs(gain) + interval))
    ax.axvline(0, color=style.DARK, lw=0.8)
    widest = min(widest, _WIDEST)
    ax.set_xlim(-widest, widest)
    ax.grid(axis="y", visible=False)


def _in_percent(result: Result) -> tuple[float, float]:
    """Return gain and half its interval, in percent of the reference's error."""
    gain = statistics.fmean(result.gains)
    # The reference's error is that of the activation, and the gain.
    mean = error(result.metric, result.mean) + gain
    whole = (1 + mean if result.metric.endswith("accuracy") else mean) or 1.0
    return 100 * gain / whole, 100 * (result.interval or 0.0) / whole
