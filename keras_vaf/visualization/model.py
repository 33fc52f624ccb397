"""`plot_activations`, which draws the trainable activations of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import (
    activation_inputs,
    trainable_activations,
)
from keras_vaf.models.formulas.formula import short_formula
from keras_vaf.models.graph import is_torch_module
from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import NAMED, draw_activation, start_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = 9
"""Largest number of activations that are drawn."""
_LETTERS = 38  # of a title, more of which would run into the next one


@style.styled
def plot_activations(model: Any, data: Any = None) -> list[Axes]:
    """Plot the trainable activations of a model, with one panel per layer.

    The title is the path of the layer, and a short `keras_vaf.formula`; the content is
    that of `plot_activation`. Of more than nine layers, those are drawn whose functions
    have the largest mean distance from their start.

    Args:
        model: A model with trainable activations, which may be nested, a converted
            module of PyTorch, or a fitted estimator of `keras_vaf.sklearn`.
        data: Inputs of the model, as a list or dictionary if it takes several. If
            given, each panel shows a histogram of the inputs of its layer. For an
            estimator, inputs of its `predict`.

    Returns:
        The axes, in the order of the layers.

    Raises:
        ValueError: If the model has no trainable activation.
        ImportError: If Matplotlib is not installed.

    Example:

    >>> vaf = keras_vaf.layers.VAFActivation(g="tanh", name="vaf")
    >>> model = keras.Sequential([keras.Input((4,)), vaf])
    >>> [ax.get_title(loc="left") for ax in plot_activations(model)]
    ['vaf\\nf(a) = tanh(a)']
    """
    if hasattr(model, "network_inputs"):  # an estimator
        data = None if data is None else model.network_inputs(data)
        model = model.network_
    if is_torch_module(model):
        from keras_vaf.models import modules_on_torch as modules

        layers = modules.layers_of_module(model)
        inputs = {} if data is None else modules.inputs_of_module(model, data)
    else:
        layers = trainable_activations(model)
        inputs = {} if data is None else activation_inputs(model, data)
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
        named = [line for line in ax.get_lines() if line.get_gid() == NAMED]
        if named:
            ax.legend(handles=named, frameon=True)
    for ax in grid.flat[len(drawn) :]:
        ax.remove()
    if len(layers) > PANELS:
        figure.suptitle(f"{PANELS} of {len(layers)} activations, which moved most")
    style.legend_below(figure, panels)
    return panels


def _distance(layer: TrainableActivation, inputs: np.ndarray | None) -> float:
    """Return the mean distance of a layer's functions from their start.

    It is infinite where the start is not known.
    """
    x = np.linspace(*style.range_of(inputs), 101)
    start = start_of(layer, x)
    if start is None:
        return math.inf
    curves = layer.function(x).reshape(len(x), -1)
    return float(np.mean(np.abs(curves - start[:, None])))
