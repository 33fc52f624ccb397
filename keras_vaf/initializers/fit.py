"""`fit`, which fits a known function by k hidden units of any g.

f(x) = sum_j slope_j g(alpha_j (x - knot_j)) / alpha_j + constant. The Levenberg-
Marquardt method minimizes sums of rising powers of the errors by all weights together.
If units can have the slopes of the function far left and far right, every step keeps
them, and points outside of [-8, 8] count too.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from keras_vaf.initializers.start import INSIDE, Ends, KnownStart, Values, ends_of
from keras_vaf.initializers.units import Carrier, carry
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, evaluate

_POINTS = 401  # on [-8, 8]
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

    The largest error on [-8, 8] is small and does not grow with k. If k hidden units of
    g can have the slopes of the lines that the function approaches, f has them.
    Otherwise only the error on [-8, 8] counts.
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
    found = (problem.improved(each) for each in problem.starts(fewer.weights, k))
    better = [each for each in map(problem.measured, found) if each[1] <= fewer.inside]
    return min([fewer, *better], key=lambda each: each.rank)


class _Held(NamedTuple):
    possible: bool  # units can have the slopes of the function at its ends
    points: slice  # that count
    least: np.ndarray  # the smallest slopes of units that have them, and a 0
    free: np.ndarray  # a basis of all changes of the weights that keep them


@functools.lru_cache(maxsize=256)
def _held(ends: Ends, of_g: Ends, positive: tuple[bool, ...]) -> _Held:
    """Return what keeps the slopes at the ends, given the signs of alpha."""
    k = len(positive)
    wanted = np.array([end or 0.0 for end in ends])
    left, right = (end or 0.0 for end in of_g)
    rows = np.where(positive, [[left], [right]], [[right], [left]]).reshape(2, k)
    rows = rows * [[end is not None] for end in ends]
    least = np.linalg.pinv(rows) @ wanted
    known = ends != (None, None) and None not in of_g
    if not known or not np.allclose(rows @ least, wanted):
        return _Held(False, slice(_POINTS), np.zeros(k + 1), np.eye(3 * k + 1))
    _, sizes, basis = np.linalg.svd(rows)
    keep = basis[np.sum(sizes > 1e-9) :].T
    free = np.zeros((3 * k + 1, 2 * k + keep.shape[1] + 1))
    free[: 2 * k, : 2 * k], free[2 * k : -1, 2 * k : -1] = np.eye(2 * k), keep
    free[-1, -1] = 1
    return _Held(True, slice(None), np.append(least, 0), free)


class _Problem:
    """The points of a function, and the values and slopes of g."""

    def __init__(self, start: KnownStart, g: Function) -> None:
        self._start, self._g, self._ends_of_g = start, g, ends_of(g)
        self._lines = elementwise(g).lines is not None
        sides = zip((-_OUTSIDE[::-1], _OUTSIDE), start.ends, strict=True)
        left, right = ([] if end is None else side for side, end in sides)
        x = np.concatenate([left, INSIDE, right])
        y = start.target(x)
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        bend = np.abs(np.gradient(np.gradient(y, x), x))
        bend = (np.sqrt(bend) + 1e-6) * np.gradient(x)
        near = np.abs(x) <= INSIDE[-1]
        even = near / near.sum()
        self._known, self._bend = x, bend / bend.sum() + 0.03 * even
        # Errors of lines are as narrow as the lines, which are short at bends.
        share = bend / bend[near].sum() + (1 if self._lines else 30) * even
        inside = _shares(x[near], share[near], np.linspace(0, 1, _POINTS))
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
        held = self._hold(alpha).possible
        sides = zip(errors[1:], self._start.ends, strict=True)
        ends = [error for error, end in sides if held and end is not None]
        return _Fit(weights, errors[0], (not held, max(errors[0], *ends, 0.0)))

    def starts(self, fewer: np.ndarray, k: int) -> Iterator[np.ndarray]:
        """Yield start weights: fewer units plus one, and units at spread knots."""
        yield self._with_unit(fewer)
        knot = _shares(self._known, self._bend, (np.arange(k) + 0.5) / k)
        gap = np.maximum(np.gradient(knot), 0.1) if k > 1 else np.ones(1)
        sign = np.where(np.arange(k) < k // 2, -1.0, 1.0)
        if 0.0 in self._start.ends:  # all units are level on one side
            sign = np.full(k, 1.0 if self._start.ends[0] == 0 else -1.0)
        for steepness in (1.0,) if self._lines else (1.0, 2.0):
            yield self._solved(sign * steepness / gap, knot)

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

    def _hold(self, alpha: np.ndarray) -> _Held:
        return _held(self._start.ends, self._ends_of_g, tuple((alpha > 0).tolist()))

    def _units(self, alpha: np.ndarray, knot: np.ndarray, points: slice) -> np.ndarray:
        """Return the values of units, and the slopes of g there."""
        hidden = alpha * (self._x[points, None] - knot)
        place = np.floor(np.arcsinh(hidden) / _STEP) + _MIDDLE
        place = np.clip(place, 0, 2 * _MIDDLE - 1).astype("int32")
        rise = self._rise[place]
        values = self._values[place] + rise * (hidden - _GRID[place])
        return np.stack([values / alpha, rise])

    def _cancelled(self, slope: np.ndarray, rise: np.ndarray) -> float:
        """Return the ratio of the units' slopes to those of the function."""
        at_knot = abs(self._rise[_MIDDLE])  # A knot may be far from all points.
        steepest = np.max(np.abs(rise), axis=0, initial=at_knot)
        return float(np.abs(slope) @ steepest) / self._steepest

    def _parts(
        self, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Return units, slopes of g, errors, and how much the units cancel."""
        alpha, knot, slope = weights[:-1].reshape(3, -1)
        points = self._hold(alpha).points
        units, rise = self._units(alpha, knot, points)
        error = units @ slope + weights[-1] - self.y[points]
        return units, rise, error, self._cancelled(slope, rise)

    def _with_unit(self, weights: np.ndarray) -> np.ndarray:
        """Return weights with the unit that reduces the large errors most."""
        alpha, knot, slope = weights[:-1].reshape(3, -1)
        units, _ = self._units(alpha, knot, slice(_POINTS))
        error = units @ slope + weights[-1] - self.y[:_POINTS]
        weight = (error / np.max(np.abs(error))) ** 2 + 1e-6
        old = np.column_stack([units, np.ones(_POINTS)])
        q, _ = np.linalg.qr(old * weight[:, None])
        new = self._units(_UNITS[0], _UNITS[1], slice(_POINTS))[0] * weight[:, None]
        new -= np.einsum("ij,jl->il", q, np.einsum("kj,kl->jl", q, new))
        gain = np.abs(new.T @ (error * weight)) / (np.linalg.norm(new, axis=0) + 1e-3)
        unit = _UNITS[:, np.argmax(gain)]
        return self._solved(np.append(alpha, unit[0]), np.append(knot, unit[1]))

    def _solved(self, alpha: np.ndarray, knot: np.ndarray) -> np.ndarray:
        """Return weights with the slopes of the least-squares fit."""
        _, points, least, free = self._hold(alpha)
        units, rise = self._units(alpha, knot, points)
        free = free[2 * len(alpha) :, 2 * len(alpha) :]
        design = np.column_stack([units, np.ones(len(units))])
        wanted = np.append(self.y[points] - design @ least, np.zeros(free.shape[1]))
        for ridge in (1e-4, 1e-2, 1e-1, 1.0):
            rows = np.concatenate([design @ free, ridge * np.eye(free.shape[1])])
            found = least + free @ np.linalg.lstsq(rows, wanted)[0]
            if self._cancelled(found[:-1], rise) <= _MOST_CANCELLED / 2:
                break
        return np.concatenate([alpha, knot, found])

    def _minimized(self, weights: np.ndarray, power: int) -> np.ndarray:
        """Minimize a power of the errors by the Levenberg-Marquardt method."""
        free = self._hold(weights[: len(weights) // 3]).free
        parts, damping = self._parts(weights), 1e-3
        most, value = max(_MOST_CANCELLED, parts[-1]), _norm(parts[2], power)
        for _ in range(_STEPS):
            normal, wanted = self._equations(weights, parts, power)
            normal, wanted = free.T @ normal @ free, free.T @ wanted
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
        away = self._x[self._hold(alpha).points, None] - knot
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


def _shares(x: np.ndarray, share: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the points up to which the shares add up to some parts of the whole."""
    total = np.cumsum(share) - share[0]
    return np.interp(parts * total[-1], total, x)


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
