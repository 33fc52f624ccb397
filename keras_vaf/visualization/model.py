"""A picture of all the activations of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import NAMED, draw_activation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_activations(model: keras.Model, data: Any = None) -> list[Axes]:
    """Plot every trainable activation of a model, one panel a layer.

    Each panel is titled by the path of its layer and shows what `plot_activation` does.

    Args:
        model: A model with trainable activations.
        data: Inputs of the model. With them, each panel shows the histogram of what
            enters its layer.

    Returns:
        The axes, in the order of the layers.

    Raises:
        ValueError: If the model has no trainable activation.
        ImportError: If Matplotlib is not installed.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(name="vaf")
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), vaf])
    >>> [ax.get_title(loc="left") for ax in plot_activations(model)]
    ['vaf']
    """
    layers = find_layers(model, TrainableActivation)
    if not layers:
        raise ValueError(
            "Expected a model with a trainable activation of keras_vaf.layers. "
            f"Received: model={model.name!r} with none"
        )
    inputs = {} if data is None else _inputs(model, layers, data)
    pyplot = require("matplotlib.pyplot", extra="plot")
    columns = min(len(layers), 3)
    rows = math.ceil(len(layers) / columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(4.4 * columns, 3.3 * rows + 0.4), squeeze=False
    )
    panels = list(grid.flat[: len(layers)])
    for (path, layer), ax in zip(layers.items(), panels, strict=True):
        draw_activation(layer, inputs.get(path), ax)
        ax.set_title(path)
        named = [line for line in ax.get_lines() if line.get_gid() == NAMED]
        if named:
            ax.legend(handles=named, loc="best", frameon=True, framealpha=0.8)
    for ax in grid.flat[len(layers) :]:
        ax.remove()
    style.legend_below(figure, panels)
    return panels


def _inputs(
    model: keras.Model, layers: dict[str, TrainableActivation], data: Any
) -> dict[str, Any]:
    """Return what enters those layers that are nodes of the model's own graph."""
    own = [path for path, layer in layers.items() if layer in model.layers]
    inside = keras.Model(model.inputs, [layers[path].input for path in own])
    values = keras.tree.flatten(inside(keras.tree.flatten(data)))
    return dict(zip(own, values, strict=True))
