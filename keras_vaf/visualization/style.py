"""`styled` and other parts of the common style of all plots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from keras_vaf.utils import require

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
R = TypeVar("R")

# The palette of Okabe and Ito, which colour-blind people can tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
CYCLE = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9")
DARK, GREY, PALE = "#333333", "#767676", "#CBD0D6"

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.08,
    "savefig.dpi": 150,
    "text.color": DARK,
    "axes.edgecolor": GREY,
    "axes.labelcolor": DARK,
    "axes.titlecolor": DARK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-2, 4),  # longer labels would overlap in small panels
    "grid.color": "#E6E8EA",
    "xtick.color": DARK,
    "ytick.color": DARK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "lines.linewidth": 2.0,
    "legend.fontsize": 9,
    "legend.frameon": False,
}


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function draw in this style without changing Matplotlib's settings."""

    @functools.wraps(function)
    def draw(*args: P.args, **kwargs: P.kwargs) -> R:
        with require("matplotlib", extra="plot").rc_context(STYLE):
            return function(*args, **kwargs)

    return draw


def range_of(values: np.ndarray | None) -> tuple[float, float]:
    """Return the range of 99.8 % of the finite data, or [-4.4, 4.4] without any."""
    finite = np.empty(0) if values is None else values[np.isfinite(values)]
    low, high = np.quantile(finite, (0.001, 0.999)) if finite.size else (-4, 4)
    margin = 0.05 * (high - low) or 1.0
    return float(low - margin), float(high + margin)


def draw_derivative(x: np.ndarray, curve: np.ndarray, ax: Axes) -> None:
    """Draw the derivative of a curve, with its own axis on the right."""
    slope = np.gradient(curve, x)
    right = ax.twinx()
    right.plot(x, slope, color=ORANGE, lw=1.5, zorder=2.5, label="derivative of f")
    room = 0.05 * np.ptp(slope) + 0.01 * np.abs(slope).max()
    room += 1e-3 * (np.abs(curve).max() or 1) / np.ptp(x)  # for the rounding of lines
    if np.isfinite(room):  # else the weights are not
        right.set_ylim(slope.min() - room, slope.max() + room)
    right.tick_params(axis="y", labelcolor=ORANGE, color=ORANGE)
    right.spines["right"].set(visible=True, color=ORANGE)
    right.grid(visible=False)
    ax.plot([], [], color=ORANGE, lw=1.5, label="derivative of f")  # for the legend


def draw_start(x: np.ndarray, start: np.ndarray, ax: Axes) -> None:
    """Draw the function at which a layer started."""
    ax.plot(x, start, "--", color=DARK, lw=1.2, zorder=3.5, label="start")


def draw_histogram(counts: np.ndarray, edges: np.ndarray, ax: Axes) -> None:
    """Draw a histogram in the lower third of the axes, between the grid and curves."""
    place: Any = {"transform": ax.get_xaxis_transform(), "zorder": 0.6}
    height = 0.3 * counts / max(counts.max(), 1)
    ax.stairs(height, edges, fill=True, color=PALE, label="data", **place)


def draw_bundle(x: np.ndarray, curves: np.ndarray, ax: Axes) -> np.ndarray:
    """Draw the median of curves `(points, functions)` with bands, and return it."""
    median = np.median(curves, axis=1)
    ax.plot(x, median, color=BLUE, zorder=3, label="median f")
    for low, high, alpha in ((0.25, 0.75, 0.3), (0.05, 0.95, 0.15)):
        band = np.quantile(curves, (low, high), axis=1)
        label = f"{high - low:.0%} of functions"
        ax.fill_between(x, band[0], band[1], color=BLUE, alpha=alpha, lw=0, label=label)
    return median


def legend_below(figure: Figure, panels: Sequence[Axes]) -> None:
    """Put one legend below all panels."""
    handles: dict[str, Artist] = {}
    for ax in panels:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if handle.get_gid() is None:
                handles.setdefault(label, handle)
    columns = max(1, int(figure.get_figwidth() / 1.4))  # a wider legend would be cut
    place: Any = {"loc": "outside lower center", "ncols": columns}
    figure.legend(handles.values(), handles.keys(), **place)
