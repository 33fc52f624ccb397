"""Hidden units for a start: those that carry a function, live spares, and fits.

A spare unit must not change f and must be able to learn. Copies of a carrier get equal
gradients for ever, and units whose weights are all 0 get none. So a spare has beta = 0,
alpha = -1 or +1, and its knot -alpha_bias / alpha among the values that enter the
layer: at a quantile of the standard normal distribution.
"""

from collections.abc import Callable, Collection, Iterator
from statistics import NormalDist

import numpy as np

from keras_vaf.initializers.start import Values
from keras_vaf.ops.functions import Function, evaluate

_RIDGES = (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
_MOST_CANCELLED = 10.0

Carrier = tuple[float, float, float]
"""alpha, alpha_bias and beta of a hidden unit that carries a part of f."""


def carry(carriers: list[Carrier], beta_bias: float, k: int, what: str) -> Values:
    """Fill up k hidden units with live spares behind those that carry the function.

    Args:
        carriers: Units that make up the function.
        beta_bias: The function's constant.
        k: Number of hidden units.
        what: The start, for the error.

    Raises:
        ValueError: If k is less than the number of carriers.
    """
    if k < len(carriers):
        raise ValueError(
            f"{what} is carried by {len(carriers)} hidden units: expected "
            f"k >= {len(carriers)}. Received: k={k}"
        )
    taken = {(alpha, -bias / alpha) for alpha, bias, _ in carriers}
    spares = [
        (sign, -sign * knot, 0.0) for sign, knot in spread(k - len(carriers), taken)
    ]
    alpha, alpha_bias, beta = np.array([*carriers, *spares], "float64").T
    return alpha, alpha_bias, beta, np.asarray(beta_bias, "float64")


def spread(
    count: int, taken: Collection[tuple[float, float]] = ()
) -> list[tuple[float, float]]:
    """Signs and knots of units over the standard normal distribution.

    Args:
        count: How many.
        taken: Pairs of sign and knot to leave out.

    Returns:
        Pairs of alpha (-1 or +1) and knot, all different, -1 first.
    """
    for levels in range(count, count + len(taken) + 1):
        free = [unit for unit in _over_quantiles(levels) if unit not in taken]
        if len(free) >= count:
            break
    return free[:count]


def _over_quantiles(count: int) -> Iterator[tuple[float, float]]:
    levels = sorted(
        ((i + 0.5) / count for i in range(count)), key=lambda q: (abs(q - 0.5), q)
    )
    for i, level in enumerate(levels):
        yield (-1.0 if i % 2 == 0 else 1.0), NormalDist().inv_cdf(level)


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
    signs, knots = np.array(spread(k)).T
    for slope in (0.5, 1.0, 2.0):
        for width in (0.5, 1.0, 1.5, 2.0, 3.0):
            yield signs * slope, -signs * slope * knots * width


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
