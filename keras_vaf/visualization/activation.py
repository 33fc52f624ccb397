"""`plot_activation`, which draws the functions of one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf import initializers
from keras_vaf.layers import TrainableActivation
from keras_vaf.visualization import style
from keras_vaf.visualization.knots import knots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMED = "named"
"""Mark of a curve that belongs to one panel only."""

# Quantiles of the data between which the curves are drawn.
_INNER = (0.001, 0.999)
_MOST_DIFFERENT = 3
# The derivative has a separate axis if f had less than this share of the height.
_FLAT = 1 / 3


@style.styled
def plot_activation(
    layer: TrainableActivation, data: Any = None, ax: Axes | None = None
) -> Axes:
    """Plot what an activation has learned.

    A single shared function is drawn with its derivative, its knots and, as a dashed
    line, its start. The derivative has a separate axis, on the right, where a common
    one would flatten the function. Functions that differ by channel or position are
    drawn as their median, with bands that hold 50 % and 90 % of the functions. The
    three functions that differ most from the median are drawn and named.

    Args:
        layer: A trainable activation with weights.
        data: Inputs of the layer. Their histogram is drawn below the curves, and their
            range sets the range of the plot.
        ax: Axes to draw on. By default, new axes.

    Returns:
        The axes.

    Raises:
        ValueError: If the layer is not a trainable activation, or has no weights yet.
        ImportError: If Matplotlib is not installed.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation()
    >>> ax = plot_activation(layer, data=np.random.normal(size=1000))
    >>> ax.get_xlabel()
    'pre-activation a'
    """
    check_drawable(layer)
    drawn, legend = style.axes_or_new(ax)
    draw_activation(layer, data, drawn)
    drawn.legend(**legend)
    return drawn


def draw_activation(layer: TrainableActivation, data: Any, ax: Axes) -> None:
    """Draw the content of `plot_activation`, without the legend."""
    values = None if data is None else keras.ops.convert_to_numpy(data).ravel()
    x = drawn_range(values)
    curves = layer.function(x)
    if curves.ndim == 1:
        _draw_function(layer, x, curves, ax)
    else:
        _draw_bundle(x, curves, ax)
    if values is not None:
        counts, edges = np.histogram(values, bins=40, range=(x[0], x[-1]))
        style.draw_histogram(counts, edges, ax)
    ax.set_xlim(x[0], x[-1])
    ax.set_xlabel("pre-activation a")
    ax.set_ylabel("f(a)")


def check_drawable(layer: Any) -> None:
    """Raise a `ValueError` unless the layer is a trainable activation with weights."""
    if not isinstance(layer, TrainableActivation) or not layer.weights:
        raise ValueError(
            "Expected a trainable activation of keras_vaf.layers that has its weights: "
            f"call it, or build it, first. Received: {layer!r}"
        )


def drawn_range(values: np.ndarray | None) -> np.ndarray:
    """Return a fine grid over 99.8 % of the data, or over [-4, 4] without data."""
    low, high = (-4.0, 4.0) if values is None else np.quantile(values, _INNER)
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, 1001)


def _draw_function(
    layer: TrainableActivation, x: np.ndarray, curve: np.ndarray, ax: Axes
) -> None:
    ax.plot(x, curve, color=style.BLUE, zorder=3, label="f")
    _draw_derivative(x, curve, ax)
    places = knots(layer)
    places = places[(places > x[0]) & (places < x[-1])]
    if places.size:
        ax.plot(
            places,
            layer.function(places),
            "o",
            color=style.BLUE,
            markerfacecolor="white",
            zorder=4,
            label="knots of f",
        )
    given = (value for name, value in vars(layer).items() if "_initializer" in name)
    replaced = any(value is not None for value in given)
    start = "random" if replaced else getattr(layer, "initialization", "random")
    g: Any = getattr(layer, "g", None)
    known = initializers.get(start).known(g)
    if known is not None:
        y = known.target(x)
        ax.plot(x, y, "--", color=style.DARK, lw=1.2, zorder=3.5, label="start")


def _draw_derivative(x: np.ndarray, curve: np.ndarray, ax: Axes) -> None:
    slope = np.gradient(curve, x)
    label, own = "derivative of f", ax
    if np.ptp(curve) < _FLAT * np.ptp([*curve, *slope]):
        own = style.axis_on_the_right(ax, style.ORANGE)
        label = f"{label} (right axis)"
        ax.plot([], [], color=style.ORANGE, lw=1.5, label=label)  # for the legend
    own.plot(x, slope, color=style.ORANGE, lw=1.5, zorder=2.5, label=label)


def _draw_bundle(x: np.ndarray, curves: np.ndarray, ax: Axes) -> None:
    flat = curves.reshape(len(x), -1)
    median = style.draw_bundle(x, flat, ax)
    for color, place in zip(
        style.CYCLE[1:], _most_different(flat, median), strict=False
    ):
        index = np.unravel_index(place, curves.shape[1:])
        name = f"f[{', '.join(map(str, index))}]"
        ax.plot(x, flat[:, place], color=color, lw=1.2, label=name, gid=NAMED)


def _most_different(curves: np.ndarray, median: np.ndarray) -> list[int]:
    """Choose curves far from the median and from the curves chosen before."""
    chosen: list[int] = []
    nearest = np.full(curves.shape[1], np.inf)
    latest = median
    while len(chosen) < min(_MOST_DIFFERENT, curves.shape[1]):
        distances = np.mean((curves - latest[:, None]) ** 2, axis=0)
        nearest = np.minimum(nearest, distances)
        chosen.append(int(nearest.argmax()))
        latest = curves[:, chosen[-1]]
    return chosen
