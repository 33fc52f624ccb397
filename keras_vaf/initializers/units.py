"""`carry` and `spare_units`: hidden units that form a function, and spare ones.

A carrier is a hidden unit that forms a part of the function. A spare unit does not
change f, because its beta is 0. To learn, it must differ from all other units. Its
knot, -alpha_bias / alpha, is a quantile of the standard normal distribution, so that it
lies among the inputs of the layer.
"""

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
    """Return k hidden units: the carriers of a function, followed by spare units."""
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
    """Return alpha, alpha_bias and beta of hidden units that differ from given ones.

    alpha is -1, +1, -1, ... If g overflows or is undefined on one side of [-100, 100],
    as exp or log does, a spare unit could be 0 times infinity where the rest of f is
    finite. Then alpha is +1 and knots are on that side. If g is not finite on both
    sides, the units are g(x / 2), g(x / 3), ...
    """
    taken = np.stack([np.ravel(alpha), np.ravel(alpha_bias)], axis=-1)
    for size in range(count, count + len(taken) + 1):
        found = _candidates(g, size)
        distances = np.abs(found[:, None] - taken).max(axis=-1)
        units = found[np.all(distances > _SAME, axis=-1)]
        if len(units) >= count:
            break
    new_alpha, new_bias = units[:count].T
    return new_alpha, new_bias, np.zeros(count)


def _candidates(g: Function, count: int) -> np.ndarray:
    """Return pairs of alpha and alpha_bias for spare units."""
    left, right = _finite(g)
    numbers = np.arange(count)
    if not left and not right:
        return np.stack([1 / (numbers + 2), 0.0 * numbers], axis=-1)
    levels = ((numbers + 0.5) / count).tolist()
    if left and right:
        levels.sort(key=lambda level: (abs(level - 0.5), level))
        signs = np.where(numbers % 2, 1.0, -1.0)
        return np.stack([signs, -signs * list(map(_quantile, levels))], axis=-1)
    knots = np.array([_quantile(0.5 + level / 2) for level in levels])
    return np.stack([np.ones(count), -knots if left else knots], axis=-1)


def _finite(g: Function) -> tuple[bool, bool]:
    """Return whether a function is finite in float32 on [-100, 0) and on (0, 100]."""
    known = elementwise(g).finite
    if known is not None:
        return known[0] <= -FAR, known[1] >= FAR
    x = np.multiply.outer((-1, 1), np.arange(1.0, FAR + 1))
    with np.errstate(over="ignore"):
        y = evaluate(g, x).astype("float32")
    if y.shape != x.shape:
        raise ValueError(f"`g` must act on each element alone. Received: g={g!r}")
    left, right = np.all(np.isfinite(y), axis=1)
    return bool(left), bool(right)


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
