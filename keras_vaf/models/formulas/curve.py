"""`Lines` and `Sum`, a learned function as the numbers of its formula."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from keras_vaf.ops.activations import Function, elementwise
from keras_vaf.ops.functions import evaluate

_EQUAL = 4 * np.finfo("float64").eps


class Lines(NamedTuple):
    """A continuous function made of straight lines: `slope * a + constant` each.

    Args:
        knots: Points between neighbouring lines, ascending.
        slopes: Slopes of the lines, one more than knots.
        constants: Values of the lines at 0.
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    constants: tuple[float, ...]

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return f(x)."""
        place = np.searchsorted(self.knots, x)
        return np.take(self.slopes, place) * x + np.take(self.constants, place)

    @property
    def bends(self) -> tuple[float, ...]:
        """Points at which f bends."""
        return self.knots


class Sum(NamedTuple):
    """A sum of copies of g: `sum_j beta_j g(alpha_j a + alpha_bias_j) + constant`.

    Args:
        g: The fixed function.
        units: alpha, alpha_bias and beta of each copy.
        constant: The constant.
    """

    g: Function
    units: tuple[tuple[float, float, float], ...]
    constant: float

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return f(x)."""
        y = np.full(np.shape(x), self.constant)
        for alpha, bias, beta in self.units:
            y += beta * evaluate(self.g, alpha * x + bias)
        return y

    @property
    def bends(self) -> tuple[float, ...]:
        """Points at which f bends."""
        pairs = itertools.product(self.units, elementwise(self.g).knots)
        return tuple((knot - bias) / alpha for (alpha, bias, _), knot in pairs)


Curve = Lines | Sum


def rounded(curve: Curve, digits: int) -> Curve:
    """Return a function whose numbers are rounded to `digits` significant digits."""

    def each(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(each, value))
        return value if callable(value) else float(f"{value:.{digits}g}") + 0.0

    return type(curve)(*map(each, curve))


def sum_of(g: Function, units: np.ndarray, constant: float) -> Sum:
    """Return a function as a sum, with constant hidden units added to the constant."""
    alpha, bias, beta = units
    flat = (alpha == 0) & (beta != 0)
    constant += float(beta[flat] @ evaluate(g, bias[flat]))
    kept = units[:, (alpha != 0) & (beta != 0)]
    return Sum(g, tuple(map(tuple, kept.T.tolist())), constant)


def lines_of(units: np.ndarray, constant: float) -> Lines:
    """Return a sum of hidden units with g = relu as straight lines.

    Equal knots are merged, and a knot at which the changes of the slope cancel is left
    out.
    """
    alpha, bias, beta = units
    flat = (alpha == 0) | (beta == 0)
    constant = math.fsum([constant, *(beta * np.maximum(bias, 0))[flat]])
    alpha, bias, beta = units[:, ~flat]
    places = -bias / alpha
    knots = np.sort(places) + 0.0
    knots = knots[np.diff(knots, prepend=-np.inf) > _EQUAL * np.abs(knots)]
    near = np.abs(places - knots[:, None]) <= _EQUAL * np.abs(knots[:, None])
    changes = near * np.abs(alpha) * beta
    total, size = np.sum(changes, axis=1), np.sum(np.abs(changes), axis=1)
    knots = knots[np.abs(total) > _EQUAL * size]
    middles = knots[:-1] + np.diff(knots) / 2
    slopes, constants = [], []
    for inside in [-np.inf, *middles, np.inf][: len(knots) + 1]:
        active = alpha * (inside - places) > 0
        slopes.append(math.fsum((alpha * beta)[active]))
        constants.append(math.fsum([constant, *(bias * beta)[active]]))
    return Lines(tuple(knots.tolist()), tuple(slopes), tuple(constants))
