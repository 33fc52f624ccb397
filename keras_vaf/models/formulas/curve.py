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
    def bends(self) -> list[float]:
        """Points at which f bends."""
        return [*self.knots]


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
            y = y + beta * evaluate(self.g, alpha * x + bias)
        return y

    @property
    def bends(self) -> list[float]:
        """Points at which f bends."""
        pairs = itertools.product(self.units, elementwise(self.g).knots)
        return [(knot - bias) / alpha for (alpha, bias, _), knot in pairs]


Curve = Lines | Sum


def rounded(curve: Curve, digits: int) -> Curve:
    """Return a function whose numbers are rounded to `digits` significant digits."""

    def each(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(each, value))
        return value if callable(value) else float(f"{value:.{digits}g}") + 0.0

    return type(curve)(*map(each, curve))


def sum_of(g: Function, units: np.ndarray, constant: float) -> Sum:
    """Return a function as a sum, with constant hidden units added to the constant.

    Args:
        g: The fixed function.
        units: Array of shape `(3, k)`: alpha, alpha_bias and beta.
        constant: The constant.
    """
    kept = []
    for alpha, bias, beta in units.T.tolist():
        if alpha and beta:
            kept.append((alpha, bias, beta))
        elif beta:
            constant += beta * float(evaluate(g, bias))
    return Sum(g, tuple(kept), float(constant))


def lines_of(units: np.ndarray, constant: float) -> Lines:
    """Return a sum of hidden units with g = relu as straight lines.

    Equal knots are merged, and a knot at which the changes of the slope cancel is left
    out.

    Args:
        units: Array of shape `(3, k)`: alpha, alpha_bias and beta.
        constant: The constant.
    """
    alpha, bias, beta = units
    flat = (alpha == 0) | (beta == 0)
    constant = math.fsum([constant, *(beta * np.maximum(bias, 0))[flat]])
    alpha, bias, beta = alpha[~flat], bias[~flat], beta[~flat]
    places = -bias / alpha
    knots: list[float] = []
    for place in np.sort(places):
        near = np.abs(places - place) <= _EQUAL * abs(place)
        changes = (np.abs(alpha) * beta)[near]
        again = knots and place - knots[-1] <= _EQUAL * abs(place)
        if not again and abs(changes.sum()) > _EQUAL * np.abs(changes).sum():
            knots.append(float(place) + 0.0)
    slopes, constants = [], []
    for inside in _between(knots):
        active = alpha * (inside - places) > 0
        slopes.append(math.fsum((alpha * beta)[active]))
        constants.append(math.fsum([constant, *(bias * beta)[active]]))
    return Lines(tuple(knots), tuple(slopes), tuple(constants))


def _between(knots: list[float]) -> list[float]:
    """Return one point on each line."""
    if not knots:
        return [0.0]
    middles = [a + (b - a) / 2 for a, b in itertools.pairwise(knots)]
    first, last = knots[0], knots[-1]
    return [first - 1 - abs(first), *middles, last + 1 + abs(last)]
