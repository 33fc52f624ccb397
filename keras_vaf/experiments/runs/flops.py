"""Floating-point operations of a network, counted alike for every activation."""

from __future__ import annotations

import math
from typing import Any

import keras

from keras_vaf.ops import plain_differentiation

_MOVES = {
    "BroadcastTo",
    "Cast",
    "Dropout",
    "ExpandDims",
    "Flatten",
    "GetItem",
    "InputLayer",
    "Reshape",
}


def count_flops(model: keras.Sequential) -> int:
    """Return the floating-point operations of one sample's way through a network.

    A layer with a kernel counts two for each of its weights and places, a product and
    a sum, and one for each output if it has an activation. Every other layer counts one
    for each elementary operation of its equation and element: a sum, a product and an
    exponential alike, since what one costs depends on the machine.

    Args:
        model: A network whose layers follow one another.

    Returns:
        The number of operations.

    Example:

    >>> import keras
    >>> model = keras.Sequential([
    ...     keras.Input((4,)), keras.layers.Dense(8), keras.layers.ReLU()
    ... ])
    >>> count_flops(model)
    72
    """
    return sum(map(_flops, model.layers))


def _flops(operation: Any) -> int:
    """Count those of a layer, or of an operation inside of one."""
    if type(operation).__name__ in _MOVES:
        return 0
    if hasattr(operation, "kernel"):
        places = math.prod(operation.output.shape[1:-1])
        active = operation.activation is not keras.activations.linear
        outputs = operation.output.shape[-1]
        return places * (2 * math.prod(operation.kernel.shape) + active * outputs)
    if not isinstance(operation, keras.layers.Layer):
        return math.prod(size or 1 for size in operation.output.shape)
    return sum(map(_flops, _inside(operation).operations))


def _inside(layer: keras.layers.Layer) -> keras.Function:
    """Return what a layer does, with its weights as inputs too."""
    x = keras.KerasTensor((1, *layer.input.shape[1:]))
    weights = {
        name: keras.KerasTensor(value.shape)
        for name, value in vars(layer).items()
        if isinstance(value, keras.Variable)
    }
    twin = object.__new__(type(layer))
    vars(twin).update(vars(layer) | weights)
    with plain_differentiation():
        return keras.Function([x, *weights.values()], twin.call(x))
