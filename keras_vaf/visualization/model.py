"""A picture of all the activations of a model."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf.layers import TrainableActivation
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

    >>> model = keras.Sequential(
    ...     [keras.Input((4,)), keras.layers.Dense(8), VAFActivation(name="vaf")]
    ... )
    >>> [ax.get_title() for ax in plot_activations(model)]
    ['vaf']
    """
    layers = _activations(model)
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
    for layer, ax in zip(layers, grid.flat, strict=False):
        draw_activation(layer, inputs.get(layer.path), ax)
        ax.set_title(layer.path.removeprefix(f"{model.name}/"))
        named = [line for line in ax.get_lines() if line.get_gid() == NAMED]
        if named:
            ax.legend(handles=named, loc="best", frameon=True, framealpha=0.8)
    for ax in grid.flat[len(layers) :]:
        ax.remove()
    panels = list(grid.flat[: len(layers)])
    style.legend_below(figure, panels)
    return panels


def _activations(layer: keras.layers.Layer) -> list[TrainableActivation]:
    """Return the trainable activations in a layer, each once, in the layer's order."""
    if isinstance(layer, TrainableActivation):
        return [layer]
    inner = getattr(layer, "layers", None) or layer._layers
    found = itertools.chain.from_iterable(map(_activations, inner))
    return list(dict.fromkeys(found))


def _inputs(
    model: keras.Model, layers: list[TrainableActivation], data: Any
) -> dict[str, Any]:
    """Return what enters those layers that are nodes of the model's own graph."""
    own = [layer for layer in layers if layer in model.layers]
    inside = keras.Model(model.inputs, [layer.input for layer in own])
    values = keras.tree.flatten(inside(keras.tree.flatten(data)))
    return dict(zip((layer.path for layer in own), values, strict=True))
