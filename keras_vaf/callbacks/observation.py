"""`observe`, which describes the functions and hidden units of a layer."""

import math
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, VAFActivation
from keras_vaf.layers.activation_inputs import chosen_functions
from keras_vaf.ops.functions import evaluate
from keras_vaf.ops.layout import Layout
from keras_vaf.visualization import ActivationRecord, style
from keras_vaf.visualization.activation import unit_knots

_POINTS = 101
_BINS = 40
_NO_DEVIATION = 1e-6
_IDLE = 0.01
_EQUAL = 0.9999


def observe(
    layer: TrainableActivation, inputs: np.ndarray, epoch: int, x: np.ndarray | None
) -> ActivationRecord:
    """Return the record of a layer.

    Args:
        layer: A built layer.
        inputs: Inputs of the layer, as returned by
            `keras_vaf.layers.activation_inputs`.
        epoch: Number of epochs trained so far.
        x: Points at which the functions are evaluated. By default they cover nearly all
            inputs.
    """
    range_ = style.range_of(inputs)
    if x is None:
        x = np.linspace(*range_, _POINTS)
    counts, edges = np.histogram(inputs, bins=_BINS, range=range_)
    weights = _weights(layer)
    outputs = _values(layer, inputs, weights)
    return ActivationRecord(
        epoch=epoch,
        x=x,
        curves=_values(layer, x[:, None], weights),
        counts=counts,
        edges=edges,
        dead=float(np.mean(np.ptp(outputs, axis=0) <= _NO_DEVIATION)),
        outside=_outside(layer, inputs),
        **_of_units(layer, inputs, weights),
    )


def _weights(layer: TrainableActivation) -> list[np.ndarray]:
    """Return the parameters of the chosen functions, `(functions, ...)`."""
    count = len(layer._unshared_axes)
    weights = []
    for name in layer.weight_names:
        weight = keras.ops.convert_to_numpy(getattr(layer, name)).astype("float64")
        shape = weight.shape[count:]
        functions = weight.reshape(math.prod(weight.shape[:count]), *shape)
        weights.append(functions[chosen_functions(len(functions))])
    return weights


def _values(
    layer: TrainableActivation, x: np.ndarray, weights: list[np.ndarray]
) -> np.ndarray:
    layout = Layout(rank=2, unshared=(1,))

    def value(x: Any, *weights: Any) -> Any:
        return layer.equation.value(x, *(layout.align(w) for w in weights))

    return evaluate(value, x, *weights)


def _outside(layer: TrainableActivation, inputs: np.ndarray) -> float | None:
    places = unit_knots(layer)
    if places is None:
        return None
    places = places.reshape(-1, places.shape[-1])
    places = places[chosen_functions(len(places))]
    # NaN marks a unit without a knot. Both reductions ignore NaN.
    first = np.fmin.reduce(places, axis=1)
    last = np.fmax.reduce(places, axis=1)
    inside = (inputs >= first) & (inputs <= last)
    return float(1 - inside.mean())


def _of_units(
    layer: TrainableActivation, inputs: np.ndarray, weights: list[np.ndarray]
) -> dict[str, float]:
    if not isinstance(layer, VAFActivation):
        return {}
    alpha, alpha_bias = weights[:2]
    hidden = alpha * inputs[:, :, None] + alpha_bias
    outputs = evaluate(layer.g, hidden)
    outputs -= outputs.mean(axis=0)
    deviations = outputs.std(axis=0)
    idle = deviations <= _IDLE * hidden.std(axis=0)
    outputs /= np.where(idle, np.inf, deviations)
    correlations = np.einsum("nfi,nfj->fij", outputs, outputs) / len(outputs)
    # Each unit is compared with the units before it.
    equal = np.any(np.tril(np.abs(correlations) > _EQUAL, -1), axis=-1)
    return {"idle": float(idle.mean()), "equal": float(equal.mean())}
