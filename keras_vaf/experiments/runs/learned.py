"""`learned_activations` and `thinned`, the activations and curves of a report."""

from __future__ import annotations

import json
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import MLPConv
from keras_vaf.training import History

_CURVE_POINTS = 100
_OTHERS = (keras.layers.Dense, keras.layers.Conv2D, MLPConv)
_QUANTILES = np.linspace(0, 1, 201)


def learned_activations(model: keras.Model, x: np.ndarray) -> list[dict[str, Any]]:
    """Return the trained weights of a network's activations and quantiles of inputs.

    Args:
        model: A sequential network.
        x: Inputs of the network, such as the training rows.

    Returns:
        The configuration, the weights by name and 201 evenly spaced quantiles of the
        inputs, for each activation with weights.
    """
    activations = []
    for layer in model.layers:
        if layer.weights and not isinstance(layer, _OTHERS):
            values = keras.ops.convert_to_numpy(x)
            weights = zip(layer.weights, layer.get_weights(), strict=True)
            activations.append(
                {
                    "name": layer.name,
                    "config": json.loads(json.dumps(keras.layers.serialize(layer))),
                    "weights": {
                        weight.name: array.tolist() for weight, array in weights
                    },
                    "inputs": np.quantile(values, _QUANTILES).round(5).tolist(),
                }
            )
        x = layer(x)
    return activations


def thinned(history: History) -> dict[str, list[float | None]]:
    """Return at most 100 points of the loss curves. Infinity and NaN become `None`.

    Args:
        history: The history of a training.
    """
    epochs = np.linspace(1, history.epochs, _CURVE_POINTS).round().astype(int)
    epochs = np.unique(epochs)
    columns = {
        name: history.metrics[metric][epochs - 1]
        for name, metric in (("loss", "loss"), ("validation_loss", "val_loss"))
    }
    points = {
        name: [float(value) if np.isfinite(value) else None for value in values]
        for name, values in columns.items()
    }
    return {"epoch": epochs.tolist(), **points}
