"""`plot_epochs`, which draws how the functions of a layer changed during training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.record import ActivationRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 6
"""Largest number of epochs that are drawn."""


@style.styled
def plot_epochs(
    records: Sequence[ActivationRecord], axes: Sequence[Axes] | None = None
) -> list[Axes]:
    """Plot an activation at several epochs, with one panel per epoch.

    Each panel shows f over the histogram of its inputs at that epoch and, as a dashed
    line, f at the first record. Functions that differ by channel or position are drawn
    as their median, with bands that hold 50 % and 90 % of the functions.

    Args:
        records: Records of one layer from `keras_vaf.callbacks.ActivationMonitor`. Of
            more than six records, six evenly spaced ones are drawn, including the first
            and the last.
        axes: Axes to draw on, one per panel. By default, new axes.

    Returns:
        The axes.

    Raises:
        ValueError: If `records` is empty.
        ImportError: If Matplotlib is not installed.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(name="vaf")
    >>> model = keras.Sequential([keras.Input((2,)), vaf])
    >>> model.compile("sgd", loss="mse")
    >>> x = np.random.normal(size=(64, 2))
    >>> monitor = keras_vaf.callbacks.ActivationMonitor(x)
    >>> history = model.fit(x, x, epochs=2, verbose=0, callbacks=[monitor])
    >>> axes = plot_epochs(monitor.records["vaf"])
    >>> [ax.get_title(loc="left") for ax in axes]
    ['start', 'epoch 1', 'epoch 2']
    """
    known = isinstance(records, Sequence) and bool(records)
    if not known or not all(isinstance(each, ActivationRecord) for each in records):
        raise ValueError(
            "Expected at least one record of a layer, such as `monitor.records[path]` "
            "of an `ActivationMonitor` that was among the callbacks of a training. "
            f"Received: {records!r:.200}"
        )
    places = np.linspace(0, len(records) - 1, min(len(records), PANELS))
    chosen = [records[place] for place in places.round().astype(int)]
    if axes is None:
        pyplot = require("matplotlib.pyplot", extra="plot")
        size = (2.6 * len(chosen), 2.8)
        _, grid = pyplot.subplots(1, len(chosen), figsize=size, squeeze=False)
        axes = list(grid.flat)
    for record, ax in zip(chosen, axes, strict=False):
        _draw(record, records[0], ax)
    drawn = list(axes[: len(chosen)])
    _same_range(drawn)
    drawn[0].set_ylabel("f(a)")
    return drawn


def _draw(record: ActivationRecord, first: ActivationRecord, ax: Axes) -> None:
    style.draw_histogram(record.counts, record.edges, ax)
    if record.curves.shape[1] == 1:
        ax.plot(record.x, record.curves[:, 0], color=style.BLUE, zorder=3, label="f")
    else:
        style.draw_bundle(record.x, record.curves, ax)
    ax.plot(
        first.x,
        np.median(first.curves, axis=1),
        "--",
        color=style.DARK,
        lw=1.2,
        zorder=3.5,
        label="start",
    )
    ax.set_title(f"epoch {record.epoch}" if record.epoch else "start")
    ax.set_xlabel("pre-activation a")


def _same_range(axes: Sequence[Axes]) -> None:
    """Give all panels the same ranges, so that their curves can be compared."""
    for get, change in (("get_xlim", "set_xlim"), ("get_ylim", "set_ylim")):
        limits = np.array([getattr(ax, get)() for ax in axes])
        for ax in axes:
            getattr(ax, change)(limits[:, 0].min(), limits[:, 1].max())
