"""Hidden units for a start: those that carry a function, live spares, and fits.

A spare unit must not change f and must be able to learn. Copies of a carrier get equal
gradients for ever, and units whose weights are all 0 get none. So a spare has beta = 0,
alpha = -1 or +1, and its knot -alpha_bias / alpha among the values that enter the
layer: at a quantile of the standard normal distribution.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from statistics import NormalDist
from typing import Any

import numpy as np

from keras_vaf.initializers.start import Values
from keras_vaf.ops.functions import Function, evaluate

_quantile = NormalDist().inv_cdf
_SAME = 1e-6
"""Distance below which two units are equal: stored weights are rounded to float32."""
_RIDGES = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_MOST_CANCELLED = 10.0

Carrier = tuple[float, float, float]
"""alpha, alpha_bias and beta of a hidden unit that carries a part of f."""


def carry(
    carriers: list[Carrier], beta_bias: float, k: int, g: Function, what: str
) -> Values:
    """Fill up k hidden units with live spares behind those that carry the function.

    Args:
        carriers: Units that make up the function.
        beta_bias: The function's constant.
        k: Number of hidden units.
        g: Fixed function of the hidden units.
        what: The start, for the error.

    Raises:
        ValueError: If k is less than the number of carriers.
    """
    if k < len(carriers):
        raise ValueError(
            f"{what} is carried by {len(carriers)} hidden units: expected "
            f"k >= {len(carriers)}. Received: k={k}"
        )
    alpha, alpha_bias, beta = np.array(carriers, "float64").T
    spares = spare_units(k - len(carriers), g, alpha, alpha_bias)
    units = np.concatenate([(alpha, alpha_bias, beta), spares], axis=1)
    return units[0], units[1], units[2], np.asarray(beta_bias, "float64")


def spare_units(
    count: int, g: Function, alpha: Any = (), alpha_bias: Any = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return hidden units that leave f as it is and can learn.

    beta is 0 and alpha is -1, +1, -1, ... The knots are quantiles of the standard
    normal distribution. A g that overflows or has no value on one side of [-100, 100],
    such as exp or log, would give 0 times infinity where the rest of f is finite. Its
    spare units have alpha +1 and knots on that side. With values missing on both sides,
    as for tan, the units are g(x / 2), g(x / 3), ...

    Args:
        count: Number of spare units.
        g: Fixed function of the hidden units.
        alpha: Factors of the hidden units that exist, of any shape. No spare unit
            equals one of them: equal units would get equal gradients for ever.
        alpha_bias: Biases of the hidden units that exist, of the same shape.

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
    x = np.arange(-100.0, 101.0)
    with np.errstate(over="ignore"):
        finite = np.isfinite(evaluate(g, x).astype("float32"))
    left, right = bool(np.all(finite[x < 0])), bool(np.all(finite[x > 0]))
    if left and right:
        return _over_quantiles
    if left or right:
        return functools.partial(_on_one_side, -1.0 if left else 1.0)
    return _flatter


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


def fit(target: Callable[[np.ndarray], np.ndarray], k: int, g: Function) -> Values:
    """Least-squares fit of a function by k hidden units, under the normal density.

    The hidden units are spread over the quantiles, and beta and beta_bias solve the
    linear problem. Of a few slopes, widths of the spread and ridge penalties those are
    taken whose largest error on [-5, 5] is smallest, among fits whose hidden units
    do not cancel each other: where their slopes add up to hundreds of times that of the
    function, a small step of one of them throws f far.

    Args:
        target: The function to fit.
        k: Number of hidden units.
        g: Fixed function of the hidden units.
    """
    x = np.linspace(-5, 5, 501)
    f = target(x)
    steepest = _MOST_CANCELLED * float(np.max(np.abs(np.gradient(f, x))))
    candidates = []
    for alpha, alpha_bias in _placed(k):
        hidden = evaluate(g, x[:, None] * alpha + alpha_bias)
        slopes = np.max(np.abs(np.gradient(hidden, x, axis=0)), axis=0)
        for ridge in _RIDGES:
            *beta, beta_bias = _solve(x, hidden, f, ridge)
            cancel = bool(slopes @ np.abs(beta) > steepest)
            # Of the fits that the density allows, the one that strays least far out.
            error = float(np.max(np.abs(hidden @ beta + beta_bias - f)))
            values = (alpha, alpha_bias, np.array(beta), np.asarray(beta_bias))
            candidates.append((cancel, error, values))
    return min(candidates, key=lambda candidate: candidate[:2])[2]


def _placed(k: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """alpha and alpha_bias of k hidden units, in a few slopes and widths."""
    alpha, alpha_bias = _over_quantiles(k).T
    for slope in (0.5, 1.0, 2.0):
        for width in (0.5, 1.0, 1.5, 2.0, 3.0):
            yield alpha * slope, alpha_bias * slope * width


def _solve(
    x: np.ndarray, hidden: np.ndarray, f: np.ndarray, ridge: float
) -> np.ndarray:
    """beta and beta_bias: least squares, weighted by the density of x."""
    weight = np.exp(-0.25 * x**2)  # the square root of the density, unnormalised
    penalty = np.sqrt(ridge * len(x)) * np.eye(hidden.shape[1] + 1)
    penalty[-1] = 0.0
    design = np.column_stack([hidden, np.ones_like(x)]) * weight[:, None]
    design = np.vstack([design, penalty])
    return np.linalg.lstsq(design, np.append(f * weight, np.zeros(len(penalty))))[0]
