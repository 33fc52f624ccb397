"""`carry` and `spare_units`: hidden units that form a function, and spare ones.

A carrier is a hidden unit that forms a part of the function. A spare unit must not
change f and must be able to learn. A copy of a carrier would always receive the same
gradient as the carrier, and a unit whose weights are all 0 would not receive any.
Therefore a spare unit has beta = 0 and alpha = -1 or +1. Its knot, -alpha_bias / alpha,
is a quantile of the standard normal distribution, so that it lies among the inputs of
the layer.
"""

import functools
from collections.abc import Callable, Iterable
from statistics import NormalDist
from typing import Any

import numpy as np

from keras_vaf.initializers.start import FAR, Values
from keras_vaf.ops.activations import Lines, elementwise
from keras_vaf.ops.functions import Function, evaluate

_quantile = NormalDist().inv_cdf
_SAME = 1e-6
"""Units closer than this are equal, because stored weights are rounded to float32."""

Carrier = tuple[float, float, float]
"""alpha, alpha_bias and beta of a carrier."""


def carry(
    carriers: list[Carrier], beta_bias: float, k: int, g: Function, what: str
) -> Values:
    """Return k hidden units: the carriers of a function, followed by spare units.

    Args:
        carriers: Units whose sum is the function, up to a constant.
        beta_bias: The constant of the function.
        k: Number of hidden units.
        g: Fixed function of the hidden units.
        what: Name of the start, for the error message.

    Raises:
        ValueError: If k is less than the number of carriers.
    """
    if k < len(carriers):
        raise ValueError(
            f"{what} is carried by {len(carriers)} hidden units: expected "
            f"k >= {len(carriers)}. Received: k={k}"
        )
    alpha, alpha_bias, beta = np.reshape(carriers, (-1, 3)).astype("float64").T
    spares = spare_units(k - len(carriers), g, alpha, alpha_bias)
    units = np.concatenate([(alpha, alpha_bias, beta), spares], axis=1)
    return units[0], units[1], units[2], np.asarray(beta_bias, "float64")


def spare_units(
    count: int, g: Function, alpha: Any = (), alpha_bias: Any = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return hidden units that do not change f and can learn.

    beta is 0 and alpha is -1, +1, -1, ... The knots are quantiles of the standard
    normal distribution. If g overflows or is undefined on one side of [-100, 100], as
    exp or log does, a spare unit could be 0 times infinity where the rest of f is
    finite. The spare units of such a g have alpha = +1 and knots on that side. If g is
    not finite on both sides, as for tan, the units are g(x / 2), g(x / 3), ...

    Args:
        count: Number of spare units.
        g: Fixed function of the hidden units.
        alpha: Factors of the existing hidden units, of any shape. Spare units differ
            from all of them, because equal units would always receive equal gradients.
        alpha_bias: Biases of the existing hidden units, of the same shape.

    Returns:
        alpha, alpha_bias and beta of the spare units, float64, of shape `(count,)`.

    Example:

    >>> alpha, alpha_bias, beta = spare_units(2, keras.activations.relu)
    >>> print(alpha, beta)
    [-1.  1.] [0. 0.]
    """
    taken = np.stack([np.ravel(alpha), np.ravel(alpha_bias)], axis=-1)
    candidates = _candidates(g)
    for size in range(count, count + len(taken) + 1):
        units = [u for u in candidates(size) if np.all(_distances(u, taken) > _SAME)]
        if len(units) >= count:
            break
    new_alpha, new_bias = np.reshape(units[:count], (count, 2)).T
    return new_alpha, new_bias, np.zeros(count)


def _distances(unit: np.ndarray, others: np.ndarray) -> np.ndarray:
    return np.max(np.abs(others - unit), axis=-1)


def _candidates(g: Function) -> Callable[[int], np.ndarray]:
    """Return the function that lists pairs of alpha and alpha_bias for spare units."""
    left, right = _finite(g)
    if left and right:
        return _over_quantiles
    if left or right:
        return functools.partial(_on_one_side, -1.0 if left else 1.0)
    return _flatter


def _finite(g: Function) -> tuple[bool, bool]:
    """Return whether a function is finite in float32 on [-100, 0) and on (0, 100]."""
    known = elementwise(g).finite
    if known is not None:
        return known[0] <= -FAR, known[1] >= FAR
    x = np.arange(1.0, FAR + 1)
    with np.errstate(over="ignore"):
        y = evaluate(g, np.stack([-x, x])).astype("float32")
    left, right = np.all(np.isfinite(y), axis=1)
    return bool(left), bool(right)


def _over_quantiles(count: int) -> np.ndarray:
    levels = sorted(
        ((i + 0.5) / count for i in range(count)), key=lambda q: (abs(q - 0.5), q)
    )
    signs = (-1.0 if i % 2 == 0 else 1.0 for i in range(count))
    units = zip(signs, levels, strict=True)
    return _pairs((sign, -sign * _quantile(level)) for sign, level in units)


def _on_one_side(sign: float, count: int) -> np.ndarray:
    levels = (0.5 + (i + 0.5) / (2 * count) for i in range(count))
    return _pairs((1.0, sign * _quantile(level)) for level in levels)


def _flatter(count: int) -> np.ndarray:
    return _pairs((1 / (i + 2), 0.0) for i in range(count))


def _pairs(units: Iterable[tuple[float, float]]) -> np.ndarray:
    return np.array(list(units), "float64").reshape(-1, 2)


def relu_units(lines: Lines) -> tuple[list[Carrier], float]:
    """Return the units with g = relu and the constant whose sum is made of given lines.

    Each unit makes one change of slope. Units left of a horizontal line are active on
    their left side, and units right of it on their right side. Without a horizontal
    line, an additional unit adds the slope at the left end.
    """
    knots, slopes, value = lines
    if 0 not in slopes:
        left_unit = (-1.0, knots[0], -slopes[0])
        carriers, _ = relu_units(Lines(knots, (0.0, *slopes[1:]), value))
        return [*carriers, left_unit], value
    level = slopes.index(0)
    changes = np.diff(slopes)
    rises = np.append(0.0, np.cumsum(np.diff(knots) * slopes[1:-1]))
    signs = np.where(np.arange(len(knots)) < level, -1.0, 1.0)
    units = zip(signs, -signs * knots, changes, strict=True)
    constant = value + rises[max(level - 1, 0)]
    return [unit for unit in units if unit[2]], float(constant)
