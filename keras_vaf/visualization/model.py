"""`plot_activations`, which draws all trainable activations of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from keras_vaf.layers.activation_inputs import (
    activation_inputs,
    trainable_activations,
)
from keras_vaf.models.formulas.formula import short_formula
from keras_vaf.models.graph import is_torch_module
from keras_vaf.utils import require
from keras_vaf.visualization import style
from keras_vaf.visualization.activation import NAMED, draw_activation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@style.styled
def plot_activations(model: Any, data: Any = None) -> list[Axes]:
    """Plot every trainable activation of a model, with one panel per layer.

    The title of each panel is the path of its layer, and the formula of a single
    function if it is short (see `keras_vaf.formula`). The content is that of
    `plot_activation`.

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
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), vaf])
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
    pyplot = require("matplotlib.pyplot", extra="plot")
    columns = min(len(layers), 3)
    rows = math.ceil(len(layers) / columns)
    figure, grid = pyplot.subplots(
        rows, columns, figsize=(4.4 * columns, 3.3 * rows + 0.4), squeeze=False
    )
    panels = list(grid.flat[: len(layers)])
    for (path, layer), ax in zip(layers.items(), panels, strict=True):
        draw_activation(layer, inputs.get(path), ax)
        ax.set_title("\n".join(filter(None, (path, short_formula(layer)))))
        named = [line for line in ax.get_lines() if line.get_gid() == NAMED]
        if named:
            ax.legend(handles=named, loc="best", frameon=True, framealpha=0.8)
    for ax in grid.flat[len(layers) :]:
        ax.remove()
    style.legend_below(figure, panels)
    return panels
