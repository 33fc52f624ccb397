"""`count_flops`, which counts the floating-point operations of a network."""

from __future__ import annotations

import math
from typing import Any

import keras

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
    """Return the number of floating-point operations of a network for one sample.

    A layer with a kernel counts two operations (a product and a sum) per weight and
    position, and one operation per output if it has an activation. Every other layer
    counts one operation per elementary operation of its equation and per element. A
    sum, a product and an exponential all count as one operation, because their costs
    depend on the machine.

    Args:
        model: A sequential network.

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
    """Return the number of operations of a layer, or of an operation inside a layer."""
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
    """Return a layer as a function of its inputs and weights."""
    x = keras.KerasTensor((1, *layer.input.shape[1:]))
    weights = {
        name: keras.KerasTensor(value.shape)
        for name, value in vars(layer).items()
        if isinstance(value, keras.Variable)
    }
    twin = object.__new__(type(layer))
    vars(twin).update(vars(layer) | weights)
    return keras.Function([x, *weights.values()], twin.call(x))
