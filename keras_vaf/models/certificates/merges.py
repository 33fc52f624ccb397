"""`merged_bound`, the bound of a layer that merges several tensors."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from keras_vaf.models.certificates.constants import Shape

_SUMS = (keras.layers.Add, keras.layers.Subtract)
_EXTREMES = (keras.layers.Maximum, keras.layers.Minimum)
MERGES = (*_SUMS, *_EXTREMES, keras.layers.Average, keras.layers.Concatenate)
"""Layers that `merged_bound` knows."""


def merged_bound(
    layer: Any, bounds: Sequence[float], shapes: Sequence[Shape]
) -> float | None:
    """Return a bound on the output of a layer that merges tensors.

    An operand that is broadcast appears n times in the output, where n is the size of
    the output divided by the size of the operand. A change of the operand then changes
    the output by up to sqrt(n) times as much.

    Args:
        layer: A layer of a class in `MERGES`.
        bounds: The bound of each operand.
        shapes: The shape of each operand, with `None` for an unknown size.

    Returns:
        The bound, or `None` if it depends on a size that is unknown, or if the layer
        combines different samples of a batch.
    """
    if isinstance(layer, keras.layers.Concatenate):
        along_batch = layer.axis in (0, -len(shapes[0]))
        return None if along_batch else math.hypot(*bounds)
    repeats = _repeats(shapes)
    if repeats is None:
        return None
    bounds = [b * math.sqrt(n) for b, n in zip(bounds, repeats, strict=True)]
    if isinstance(layer, _EXTREMES):
        return math.hypot(*bounds)
    return sum(bounds) / (len(bounds) if isinstance(layer, keras.layers.Average) else 1)


def _repeats(shapes: Sequence[Shape]) -> list[int] | None:
    """Return how often each operand appears in the output, or `None` if unknown.

    An operand with an unknown size may be broadcast when the model runs.
    """
    sizes = [shape[1:] for shape in shapes]
    if len(set(map(len, sizes))) > 1 or any(None in each for each in sizes):
        return None if len(sizes) > 1 else [1]
    output = [max(axis) for axis in zip(*sizes, strict=True)]
    return [
        math.prod(size for size, own in zip(output, each, strict=True) if own == 1)
        for each in sizes
    ]
