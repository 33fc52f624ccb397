"""`plot_epochs`, which draws how the functions of a layer changed during training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 6  # the most epochs that are drawn


@dataclass(frozen=True, eq=False)
class ActivationRecord:
    """The functions of a layer after an epoch, and a summary of their inputs.

    Attributes:
        epoch: Number of epochs trained so far; 0 before the first epoch.
        x: Points at which the functions are evaluated, `(points,)`.
        curves: Values of the functions at these points, `(points, functions)`.
        counts: Histogram of the inputs, `(bins,)`.
        edges: Edges of the bins of the histogram, `(bins + 1,)`.
        dead: Share of the functions that are constant on all inputs.
        outside: Share of the inputs outside all knots of their function, where the
            function is linear; `None` if g has no knots.
        idle: Share of the hidden units whose output is nearly constant: its standard
            deviation is less than 0.01 times that of the input of g.
        equal: Share of the hidden units whose output on the inputs is that of an
            earlier unit up to a factor and a constant.
    """

    epoch: int
    x: np.ndarray
    curves: np.ndarray
    counts: np.ndarray
    edges: np.ndarray
    dead: float
    outside: float | None = None
    idle: float | None = None
    equal: float | None = None


@style.styled
def plot_epochs(
    records: Sequence[ActivationRecord], axes: Sequence[Axes] | None = None
) -> list[Axes]:
    """Plot an activation at several epochs, with one panel per epoch.

    Each panel shows f over the histogram of its inputs at that epoch and, as a dashed
    line, f at the first record. Several functions are drawn as in `plot_activation`.

    Args:
        records: Records of one layer from `keras_vaf.callbacks.ActivationMonitor`. Of
            more than six records, six evenly spaced ones are drawn, including the first
            and the last.
        axes: Axes to draw on, one per panel. By default, new axes.

    Returns:
        The axes.

    Raises:
        ValueError: If `records` is empty.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(name="vaf")
    >>> model = keras.Sequential([keras.Input((2,)), vaf])
    >>> model.compile("sgd", loss="mse")
    >>> x = np.random.normal(size=(64, 2))
    >>> monitor = keras_vaf.callbacks.ActivationMonitor(x)
    >>> history = model.fit(x, x, epochs=2, verbose=0, callbacks=[monitor])
    >>> axes = plot_epochs(monitor.records["vaf"])
    """
    listed = isinstance(records, Sequence)
    if not listed or {type(each) for each in records} != {ActivationRecord}:
        raise ValueError(
            "Expected records of a layer, such as `monitor.records[path]` of an "
            f"`ActivationMonitor`. Received: {records!r:.200}"
        )
    places = np.linspace(0, len(records) - 1, min(len(records), PANELS))
    chosen = [records[place] for place in places.round().astype(int)]
    if axes is None:
        figure = require("matplotlib.pyplot", extra="plot").figure
        size = (2.6 * len(chosen), 2.8)
        axes = [*figure(figsize=size).subplots(1, len(chosen), squeeze=False).flat]
    drawn = list(axes[: len(chosen)])
    for record, ax in zip(chosen, drawn, strict=True):
        _draw(record, records[0], ax)
    low, high = np.transpose([[ax.get_xlim(), ax.get_ylim()] for ax in drawn])
    for ax in drawn:  # equal ranges, so that curves can be compared
        ax.set(xlim=(low[0].min(), high[0].max()), ylim=(low[1].min(), high[1].max()))
    drawn[0].set_ylabel("f(a)")
    return drawn


def _draw(record: ActivationRecord, first: ActivationRecord, ax: Axes) -> None:
    style.draw_histogram(record.counts, record.edges, ax)
    if record.curves.shape[1] == 1:
        ax.plot(record.x, record.curves[:, 0], color=style.BLUE, zorder=3, label="f")
    else:
        style.draw_bundle(record.x, record.curves, ax)
    style.draw_start(first.x, np.median(first.curves, axis=1), ax)
    ax.set_title(f"epoch {record.epoch}" if record.epoch else "start")
    ax.set_xlabel("pre-activation a")
