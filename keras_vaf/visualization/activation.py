"""`plot_activation` and `plot_activations`, which draw what layers have learned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf import initializers
from keras_vaf.layers import TrainableActivation
from keras_vaf.models.formulas.formula import short_formula
from keras_vaf.models.graphs.running import read
from keras_vaf.ops import VAF
from keras_vaf.ops.activations import elementwise
from keras_vaf.utils import require
from keras_vaf.visualization import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 9  # the most activations that are drawn
_LETTERS = 38  # of a title, more of which would run into the next one
_MOST_DIFFERENT = 3
_NAMED = "named"  # mark of a curve that belongs to one panel only


@style.styled
def plot_activation(
    layer: TrainableActivation, data: Any = None, ax: Axes | None = None
) -> Axes:
    """Plot what an activation has learned.

    A single function is drawn with its knots, its start (dashed), and its derivative
    (axis on the right); several functions as their median, with bands that hold 50 %
    and 90 % of them, and the three that differ most.

    Args:
        layer: A trainable activation with weights.
        data: Inputs of the layer. Their histogram is drawn below the curves, and their
            range sets the range of the plot.
        ax: Axes to draw on, which are returned. By default, new axes.

    Raises:
        ValueError: If the layer is not a trainable activation, or has no weights yet.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation()
    >>> ax = plot_activation(layer, data=np.random.normal(size=1000))
    """
    if not isinstance(layer, TrainableActivation) or not layer.weights:
        raise ValueError(
            "Expected a trainable activation of keras_vaf.layers that has its weights: "
            f"call it, or build it, first. Received: {layer!r}"
        )
    legend: dict[str, Any] = {"frameon": True}
    if ax is None:
        _, ax = require("matplotlib.pyplot", extra="plot").subplots(figsize=(7.0, 4.0))
        legend = {"loc": "upper left", "bbox_to_anchor": (1.15, 1.0)}  # on the right
    draw_activation(layer, data, ax)
    ax.legend(**legend)
    return ax


@style.styled
def plot_activations(model: Any, data: Any = None) -> list[Axes]:
    """Plot the trainable activations of a model, with one panel per layer.

    The title is the path of the layer, and a short `keras_vaf.formula`; the content is
    that of `plot_activation`. Of more than nine layers, those are drawn whose functions
    have the largest mean distance from their start.

    Args:
        model: A model with trainable activations, which may be nested, a converted
            module of PyTorch, or a fitted estimator of `keras_vaf.sklearn`.
        data: Inputs of the model, or of `predict` of the estimator. If given, each
            panel shows a histogram of the inputs of its layer.

    Returns:
        The axes, in the order of the layers.

    Raises:
        ValueError: If the model has no trainable activation.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(g="tanh", name="vaf")
    >>> axes = plot_activations(keras.Sequential([keras.Input((4,)), vaf]))
    """
    if hasattr(model, "network_inputs"):  # an estimator
        data = None if data is None else model.network_inputs(data)
        model = model.network_
    layers, inputs = read(model, data)
    moved = {path: _distance(layer, inputs.get(path)) for path, layer in layers.items()}
    drawn = sorted(layers, key=lambda path: -moved[path])[:PANELS]
    pyplot = require("matplotlib.pyplot", extra="plot")
    columns = min(len(drawn), 3)
    rows = math.ceil(len(drawn) / columns)
    size = (4.6 * columns, 3.3 * rows + 0.4)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, squeeze=False)
    panels = list(grid.flat[: len(drawn)])
    for path, ax in zip(filter(drawn.__contains__, layers), panels, strict=True):
        draw_activation(layers[path], inputs.get(path), ax)
        name = path if len(path) <= _LETTERS else f"…{path[1 - _LETTERS :]}"
        ax.set_title("\n".join(filter(None, (name, short_formula(layers[path])))))
        named = [line for line in ax.get_lines() if line.get_gid() == _NAMED]
        if named:
            ax.legend(handles=named, frameon=True)
    for ax in grid.flat[len(drawn) :]:
        ax.remove()
    if len(layers) > PANELS:
        figure.suptitle(f"{PANELS} of {len(layers)} activations, which moved most")
    style.legend_below(figure, panels)
    return panels


def draw_activation(layer: TrainableActivation, data: Any, ax: Axes) -> None:
    """Draw the content of `plot_activation`, without the legend."""
    values = None if data is None else keras.ops.convert_to_numpy(data).ravel()
    x = np.linspace(*style.range_of(values), 1001)
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


def start_of(layer: TrainableActivation, x: np.ndarray) -> np.ndarray | None:
    """Return the function at which a layer started, or `None` if it is not known."""
    given = [value for name, value in vars(layer).items() if "_initializer" in name]
    start = getattr(layer, "initialization", "random") if not any(given) else "random"
    g: Any = getattr(layer, "g", None)
    try:
        known = initializers.get(start).known(g)
    except ValueError:  # a user's class may mean something else by this name
        return None
    return known.target(x) if known else None


def unit_knots(layer: Any) -> np.ndarray | None:
    """Return the knots of functions, `(*unshared, knots)`, or `None` if g has none.

    They are NaN for hidden units whose alpha or beta is 0.
    """
    if layer.equation_class is not VAF or not elementwise(layer.g).knots:
        return None
    alpha, bias, beta, _ = (np.asarray(w, "float64") for w in layer.get_weights())
    alpha = np.where((alpha != 0) & (beta != 0), alpha, np.nan)
    knots = elementwise(layer.g).knots
    places = np.stack([(t - bias) / alpha for t in knots], axis=-1)
    return places.reshape(*alpha.shape[:-1], -1)


def _draw_function(
    layer: TrainableActivation, x: np.ndarray, curve: np.ndarray, ax: Axes
) -> None:
    ax.plot(x, curve, color=style.BLUE, zorder=3, label="f")
    style.draw_derivative(x, curve, ax)
    places = unit_knots(layer)
    if places is not None and np.any((places > x[0]) & (places < x[-1])):
        places = np.sort(places[(places > x[0]) & (places < x[-1])])
        look: Any = {"color": style.BLUE, "markerfacecolor": "white", "zorder": 4}
        ax.plot(places, layer.function(places), "o", label="knots of f", **look)
    start = start_of(layer, x)
    if start is not None:
        style.draw_start(x, start, ax)


def _draw_bundle(x: np.ndarray, curves: np.ndarray, ax: Axes) -> None:
    flat = curves.reshape(len(x), -1)
    median = style.draw_bundle(x, flat, ax)
    nearest = np.mean((flat - median[:, None]) ** 2, axis=0)
    for color in style.CYCLE[1 : 1 + min(_MOST_DIFFERENT, flat.shape[1])]:
        # Far from the median, and from the curves chosen before.
        place = int(nearest.argmax())
        index = np.unravel_index(place, curves.shape[1:])
        name = f"f[{', '.join(map(str, index))}]"
        ax.plot(x, flat[:, place], color=color, lw=1.2, label=name, gid=_NAMED)
        distances = np.mean((flat - flat[:, [place]]) ** 2, axis=0)
        nearest = np.minimum(nearest, distances)


def _distance(layer: TrainableActivation, inputs: np.ndarray | None) -> float:
    """Return the mean distance of functions from their start, infinite if unknown."""
    x = np.linspace(*style.range_of(inputs), 101)
    start = start_of(layer, x)
    if start is None:
        return math.inf
    curves = layer.function(x).reshape(len(x), -1)
    return float(np.mean(np.abs(curves - start[:, None])))
