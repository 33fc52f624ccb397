"""Slopes of the lines that a function approaches: `limit_slopes`."""

from collections.abc import Callable

import numpy as np

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.functions import Function, evaluate

Ends = tuple[float | None, float | None]
"""Slopes far left and far right; `None` where a function approaches no line."""

_PLACES = 1e6 * np.array([1, 2, 4])


def ends_of(function: Function) -> Ends:
    """Return the slopes of the lines that a function of tensors approaches.

    Args:
        function: A named activation or any function of one tensor.
    """
    if name_of(function) is not None:
        return elementwise(function).ends
    return limit_slopes(lambda x: evaluate(function, x))


def limit_slopes(value: Callable[[np.ndarray], np.ndarray]) -> Ends:
    """Return the slopes of the lines that a function approaches, from its values.

    Args:
        value: The function, of arrays.
    """
    with np.errstate(all="ignore"):
        left, right = value(np.stack([-_PLACES, _PLACES]))
    return _slope(-_PLACES, left), _slope(_PLACES, right)


def _slope(x: np.ndarray, y: np.ndarray) -> float | None:
    with np.errstate(all="ignore"):
        slope = round(float((y[2] - y[1]) / (x[2] - x[1])), 12) + 0.0
        from_line = y - slope * x
        straight = np.ptp(from_line) < 1e-3 * (1 + abs(slope))
    return slope if straight else None
