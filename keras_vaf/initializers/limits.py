"""`limit_slopes`, which finds the slopes of a function far left and far right."""

from collections.abc import Callable

import numpy as np

from keras_vaf.ops.activations import elementwise, name_of
from keras_vaf.ops.functions import Function, evaluate

Ends = tuple[float | None, float | None]
"""Slopes far left and far right; `None` on a side without a limiting line."""

_PLACES = 1e6 * np.array([1, 2, 4])


def ends_of(function: Function) -> Ends:
    """Return the limiting slopes of a function of tensors, far left and far right.

    Args:
        function: A named activation or any function of one tensor.
    """
    if name_of(function) is not None:
        return elementwise(function).ends
    return limit_slopes(lambda x: evaluate(function, x))


def limit_slopes(value: Callable[[np.ndarray], np.ndarray]) -> Ends:
    """Return the limiting slopes of a function, far left and far right.

    Args:
        value: The function, from arrays to arrays.
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
