"""`fit`, which fits a known function by k hidden units of any g.

f(x) = sum_j slope_j g(alpha_j (x - knot_j)) / alpha_j + constant. The Levenberg-
Marquardt method minimizes sums of rising powers of the errors by all weights together.
If units can have the slopes of the function far left and far right, every step keeps
them, and points outside of [-8, 8] count too.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from keras_vaf.initializers.start import INSIDE, Ends, KnownStart, Values, ends_of
from keras_vaf.initializers.units import Carrier, carry
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, evaluate

_POINTS = 401  # on [-8, 8], before those outside
_NEAR = slice(_POINTS)
_OUTSIDE = INSIDE[-1] * 1.6 ** np.arange(1, 7)  # to 134
_STEP, _MIDDLE = 5e-4, 17_500  # of arcsinh(x) between known values of g
_GRID = np.sinh(np.arange(-_MIDDLE, _MIDDLE + 1) * _STEP)  # to 3,000, dense near 0
_POWERS, _STEPS, _TRIES = (2, 4, 8, 16, 32, 64), 12, 6
_FLATTEST, _STEEPEST, _FARTHEST = 1 / 16, 8.0, 64.0  # bounds of |alpha| and |knot|
_MOST_CANCELLED = 10.0  # bound of the units' slopes, relative to the function's
_ENOUGH = 1e-3  # errors below this need no further units
_SIZES = np.multiply.outer((1, -1), (0.25, 0.5, 0.75, 1, 1.5, 2, 4))
_UNITS = np.reshape(np.meshgrid(_SIZES, np.linspace(-5, 5, 21)), (2, -1))
"""alpha and knot of hidden units to add."""


@functools.lru_cache(maxsize=256)
def fit(start: KnownStart, k: int, g: Function) -> Values:
    """Return the start values of k hidden units that fit the function of a start.

    The largest error on [-8, 8] does not grow with k.
    """
    with np.errstate(all="ignore"):  # a steep g overflows far from 0
        weights = _best(start, k, g).weights
    return carry(_carriers(weights), float(weights[-1]), k, g, "A fit")


def _carriers(weights: np.ndarray) -> list[Carrier]:
    alpha, knot, slope = weights[:-1].reshape(3, -1)
    units = np.stack([alpha, -alpha * knot, slope / alpha], axis=-1)
    return [(a, bias, beta) for a, bias, beta in units.tolist()]


class _Fit(NamedTuple):
    weights: np.ndarray  # alpha, knot and slope of all units, then the constant
    inside: float  # largest error on [-8, 8]
    rank: tuple[bool, float]  # a slope at an end is wrong; the error that counts


@functools.lru_cache(maxsize=256)
def _best(start: KnownStart, k: int, g: Function) -> _Fit:
    """Return the best fit by at most k units, which may be the one by k - 1 units."""
    problem = _problem(start, g)
    if k == 0:
        return problem.measured(np.array([(problem.y.min() + problem.y.max()) / 2]))
    fewer = _best(start, k - 1, g)
    if fewer.rank < (False, _ENOUGH):
        return fewer
    starts = [problem.at_knots(k), *problem.with_unit(fewer.weights)]
    found = [problem.measured(problem.improved(weights)) for weights in starts]
    better = [each for each in found if each.inside <= fewer.inside]
    return min([fewer, *better], key=lambda each: each.rank)


class _Problem:
    """The points of a function, and the values and slopes of g."""

    def __init__(self, start: KnownStart, g: Function) -> None:
        self._start, self._g, self._ends_of_g = start, g, ends_of(g)
        sides = zip((-_OUTSIDE[::-1], _OUTSIDE), start.ends, strict=True)
        left, right = ([] if end is None else side for side, end in sides)
        x = np.concatenate([left, INSIDE, right])
        y = start.target(x)
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        near = np.abs(x) <= INSIDE[-1]
        bend = np.sqrt(np.abs(np.gradient(np.gradient(y, x), x))) + 1e-6
        bend *= np.gradient(x)
        even = near / near.sum()
        self._known, self._bend = x, np.cumsum(bend / bend.sum() + 0.03 * even)
        # Errors are as narrow as lines, which are short at bends.
        level = (1 if elementwise(g).lines else 30) * even
        share = np.cumsum(bend / bend[near].sum() + level)[near]
        shares = np.linspace(share[0], share[-1], _POINTS)
        inside = np.interp(shares, share, x[near])
        self._x = np.concatenate([inside, x[~near]])
        self.y = start.target(self._x)
        rises = np.diff(self.y[:_POINTS]) / np.diff(inside)
        self._steepest = float(np.max(np.abs(rises))) + 1e-9
        self._values = np.nan_to_num(evaluate(g, _GRID), nan=1e30)
        self._rise = np.nan_to_num(np.diff(self._values) / np.diff(_GRID))

    def measured(self, weights: np.ndarray) -> _Fit:
        """Return weights with the errors that a start reports."""
        alpha, bias, beta = np.reshape(_carriers(weights), (-1, 3)).T
        errors = self._start.errors_of((alpha, bias, beta, weights[-1]), self._g)
        held = self._hold(alpha)[0]
        sides = zip(errors[1:], self._start.ends, strict=True)
        ends = [error for error, end in sides if held and end is not None]
        return _Fit(weights, errors[0], (not held, max(errors[0], *ends, 0.0)))

    def with_unit(self, weights: np.ndarray) -> list[np.ndarray]:
        """Return weights with the unit that reduces large errors most, and a copy."""
        units, _, error, _ = self._parts(weights, _NEAR)
        weight = (error / np.max(np.abs(error))) ** 2 + 1e-6
        old = np.column_stack([units, np.ones_like(error)])
        q, _ = np.linalg.qr(old * weight[:, None])
        new = self._units(_UNITS[0], _UNITS[1], _NEAR)[0] * weight[:, None]
        new -= q @ (q.T @ new)
        gain = np.abs(new.T @ (error * weight)) / (np.linalg.norm(new, axis=0) + 1e-3)
        old = weights[:-1].reshape(3, -1)[:2]
        found = [_UNITS[:, np.argmax(gain)], *(old[:, -1:] * [[2.0], [1.0]]).T]
        return [self._solved(*np.column_stack([old, unit])) for unit in found]

    def at_knots(self, k: int) -> np.ndarray:
        """Return weights of units whose knots divide the bends of the function."""
        shares = (np.arange(k) + 0.5) / k * self._bend[-1]
        knot = np.interp(shares, self._bend, self._known)
        gap = np.maximum(np.gradient(knot), 0.1) if k > 1 else np.ones(1)
        sign = np.where(np.arange(k) < k // 2, -1.0, 1.0)
        ends = self._start.ends
        if ends == (0, 0) or (0 in ends and 0 in self._ends_of_g):  # one sign is enough
            sign = np.full(k, 1.0 if ends[0] == 0 else -1.0)
        return self._solved(sign / gap, knot)

    def improved(self, weights: np.ndarray) -> np.ndarray:
        """Return weights with a lower largest error, whose units do not cancel."""
        best, least = weights, np.inf
        for power in _POWERS:
            weights = self._minimized(weights, power)
            *_, error, cancelled = self._parts(weights)
            size = np.max(np.abs(error))
            if size < least and cancelled <= _MOST_CANCELLED:
                best, least = weights, size
        return best

    def _hold(self, alpha: np.ndarray) -> tuple[bool, slice, np.ndarray, np.ndarray]:
        signs = tuple((alpha > 0).tolist())
        held, least, free = _held(self._start.ends, self._ends_of_g, signs)
        return held, slice(None) if held else _NEAR, least, free

    def _units(self, alpha: np.ndarray, knot: np.ndarray, points: slice) -> np.ndarray:
        """Return the values of units, and the slopes of g there."""
        hidden = alpha * (self._x[points, None] - knot)
        place = np.floor(np.arcsinh(hidden) / _STEP) + _MIDDLE
        place = np.clip(place, 0, 2 * _MIDDLE - 1).astype("int32")
        rise = self._rise[place]
        values = self._values[place] + rise * (hidden - _GRID[place])
        return np.stack([values / alpha, rise])

    def _parts(
        self, weights: np.ndarray, points: slice | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return units, slopes of g, errors, and the size of slopes that cancel."""
        alpha, knot, slope = weights[:-1].reshape(3, -1)
        points = points or self._hold(alpha)[1]
        units, rise = self._units(alpha, knot, points)
        error = units @ slope + weights[-1] - self.y[points]
        at_knot = abs(self._rise[_MIDDLE])  # a knot may be far from all points
        steepest = np.max(np.abs(rise), axis=0, initial=at_knot)
        cancelled = float(np.abs(slope) @ steepest) / self._steepest
        return units, rise, error, cancelled

    def _solved(self, alpha: np.ndarray, knot: np.ndarray) -> np.ndarray:
        """Return weights with the slopes of the least-squares fit."""
        _, points, least, free = self._hold(alpha)
        units, _ = self._units(alpha, knot, points)
        free = free[2 * len(alpha) :, 2 * len(alpha) :]
        design = np.column_stack([units, np.ones(len(units))])
        wanted = np.append(self.y[points] - design @ least, np.zeros(len(least)))
        for ridge in (1e-4, 1e-2, 1e-1, 1.0):
            rows = np.concatenate([design @ free, ridge * np.eye(len(least))])
            found = least + free @ np.linalg.lstsq(rows, wanted)[0]
            weights = np.concatenate([alpha, knot, found])
            if self._parts(weights)[-1] <= _MOST_CANCELLED / 2:
                break
        return weights

    def _minimized(self, weights: np.ndarray, power: int) -> np.ndarray:
        """Minimize a power of the errors by the Levenberg-Marquardt method."""
        free = self._hold(weights[: len(weights) // 3])[-1]
        parts, damping = self._parts(weights), 1e-3
        most, value = max(_MOST_CANCELLED, parts[-1]), _norm(parts[2], power)
        for _ in range(_STEPS):
            normal, wanted = self._equations(weights, parts, power)
            normal, wanted = free @ normal @ free, free @ wanted
            scale = np.diag(np.diag(normal) + 1e-9)
            for _ in range(_TRIES):
                step = np.linalg.solve(normal + damping * scale, wanted)
                new = _moved(weights, free @ step)
                parts = self._parts(new)
                found = _norm(parts[2], power)
                if found < value and parts[-1] <= most:
                    break
                damping *= 10
            else:
                return weights
            gained = found < 0.999 * value
            weights, value, damping = new, found, max(damping / 5, 1e-9)
            if not gained:
                break
        return weights

    def _equations(
        self, weights: np.ndarray, parts: tuple[Any, ...], power: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the normal equations for log|alpha|, knot, slope and constant."""
        alpha, knot, slope = weights[:-1].reshape(3, -1)
        units, rise, error, _ = parts
        away = self._x[self._hold(alpha)[1], None] - knot
        by_alpha, by_knot = slope * (rise * away - units), -slope * rise
        ones = np.ones_like(error)
        rows = np.column_stack([by_alpha, by_knot, units, ones, error / (1 - power)])
        size = np.max(np.abs(error)) + 1e-300
        factor = np.maximum(np.abs(error) / size, 1e-3) ** (power / 2 - 1)
        rows *= factor[:, None]
        # Each product is too small to start threads, which are slower.
        products = sum(part.T @ part for part in np.array_split(rows, 8))
        return products[:-1, :-1], products[:-1, -1]


_problem = functools.lru_cache(maxsize=64)(_Problem)


@functools.lru_cache(maxsize=256)
def _held(
    ends: Ends, of_g: Ends, positive: tuple[bool, ...]
) -> tuple[bool, np.ndarray, np.ndarray]:
    """Return whether units can have the slopes at both ends, and what keeps these.

    That is their smallest slopes, followed by a 0, and the projection of changes of the
    weights.
    """
    k = len(positive)
    wanted = np.array([end or 0.0 for end in ends])
    left, right = (end or 0.0 for end in of_g)
    rows = np.where(positive, [[left], [right]], [[right], [left]]).reshape(2, k)
    rows = rows * [[end is not None] for end in ends]
    back, free = np.linalg.pinv(rows), np.eye(3 * k + 1)
    known = ends != (None, None) and None not in of_g
    if not known or not np.allclose(rows @ back @ wanted, wanted):
        return False, np.zeros(k + 1), free
    free[2 * k : -1, 2 * k : -1] -= back @ rows
    return True, np.append(back @ wanted, 0), free


def _norm(error: np.ndarray, power: int) -> float:
    size = float(np.max(np.abs(error))) + 1e-300
    return size * float(np.mean((error / size) ** power)) ** (1 / power)


def _moved(weights: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return weights after a step, within their bounds. alpha changes by a factor."""
    k = len(weights) // 3
    new = weights + step
    steeper = np.abs(weights[:k]) * np.exp(np.clip(step[:k], -1, 1))
    new[:k] = np.copysign(np.clip(steeper, _FLATTEST, _STEEPEST), weights[:k])
    new[k : 2 * k] = np.clip(new[k : 2 * k], -_FARTHEST, _FARTHEST)
    return new
