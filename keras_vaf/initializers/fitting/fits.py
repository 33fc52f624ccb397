"""`fit`, which fits a known function by k hidden units."""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import keras
import numpy as np

from keras_vaf.initializers.fitting.limits import Ends, ends_of
from keras_vaf.initializers.fitting.line_fit import Pattern, nearest_lines
from keras_vaf.initializers.fitting.unit_fit import Samples, UnitFit, split
from keras_vaf.initializers.start import BESIDE, FAR, INSIDE, KnownStart, Values
from keras_vaf.initializers.units import Carrier, carry, relu_units
from keras_vaf.ops.fixed_function import Lines
from keras_vaf.ops.functions import Function, evaluate

_OUTSIDE = INSIDE[-1] * 1.05 ** np.arange(1, 147)  # to 10,000
_RANKS = 2  # candidates for the next unit
_STEEPNESS = (1.0, 2.0)  # of units at knots, in units of the distance between knots
_ENOUGH = 1e-3  # errors below this need no further units
_FAILURES = 2  # additional units that may fail to help


@functools.lru_cache(maxsize=256)
def fit(start: KnownStart, k: int, g: Function) -> Values:
    """Return the start values of k hidden units that fit the function of a start.

    The largest error is small and does not grow with k. If the function approaches a
    line at an end, and k hidden units of g can have its slope, f has that slope at the
    end. Otherwise only the error on [-8, 8] counts. With g = relu, no function made of
    as many lines has a smaller error.

    Args:
        start: A start at a known function.
        k: Number of hidden units.
        g: Fixed function of the hidden units.
    """
    if g is keras.activations.relu:
        carriers, constant = relu_units(fit_lines(start, k))
    else:
        carriers, constant = _carriers(_units(start, k, g).weights)
    return carry(carriers, constant, k, g, "A fit")


_BESIDE = BESIDE * np.array([[-1], [0], [1]])


class _Target(NamedTuple):
    """The values of a function at the points where the error of a fit counts.

    Args:
        x: Points, in ascending order.
        y: Values just left of each point, at the point, and just right of it. They
            differ where the function jumps.
        ends: Slopes of the lines that the function approaches.
    """

    x: np.ndarray
    y: np.ndarray
    ends: Ends

    def within(self, limit: float) -> "_Target":
        """Return the values at the points whose distance from 0 is at most `limit`."""
        near = np.abs(self.x) <= limit
        return _Target(self.x[near], self.y[:, near], self.ends)


@functools.lru_cache(maxsize=64)
def _target(start: KnownStart) -> _Target:
    """Return the values of a function at many points.

    Points outside of [-8, 8] count on a side where the function approaches a line.
    """
    x = np.concatenate([-_OUTSIDE[::-1], INSIDE, _OUTSIDE])
    with np.errstate(all="ignore"):
        y = start.target(x + _BESIDE)
    left, right = start.ends
    counts = np.all(np.isfinite(y), axis=0)
    counts &= (x >= INSIDE[0]) | (left is not None)
    counts &= (x <= INSIDE[-1]) | (right is not None)
    return _Target(x[counts], y[:, counts], (left, right))


def fit_lines(start: KnownStart, k: int) -> Lines:
    """Return the lines of k hidden units with g = relu that fit a function best."""
    target = _target(start)
    patterns = _patterns(*target.ends, k)
    if k == 1 and all(target.ends):
        target = target.within(INSIDE[-1])
    return nearest_lines(target.x, target.y.min(axis=0), target.y.max(axis=0), patterns)


def _patterns(left: float | None, right: float | None, k: int) -> list[Pattern]:
    """Return the sequences of slopes that the lines of k units with g = relu can have.

    A unit changes the slope of f at its knot. A slope at the left end needs units that
    are active on the left: one additional unit, or the units left of a horizontal line.
    A single unit cannot have slopes at both ends.
    """
    if not left:
        return [[0.0, *[None] * (k - 1), right]]
    if not right:
        return [[left, *[None] * (k - 1), 0.0]]
    if k == 1:
        return [[0.0, None]]
    level = [
        [left, *[None] * i, 0.0, *[None] * (k - 2 - i), right] for i in range(k - 1)
    ]
    return [[left, *[None] * (k - 2), right], *level]


class _Fitted(NamedTuple):
    """Weights of hidden units (see `UnitFit`) and their errors.

    Args:
        weights: The weights.
        inside: Largest error on [-8, 8].
        everywhere: Largest error at all points that count, outside of [-8, 8] included.
    """

    weights: np.ndarray
    inside: float
    everywhere: float


@functools.lru_cache(maxsize=256)
def _units(start: KnownStart, k: int, g: Function) -> _Fitted:
    """Return at most k units of any g: the fit with k - 1 units, or a better one."""
    if k == 0:
        y = _target(start).within(INSIDE[-1]).y
        low, high = y.min(), y.max()
        return _Fitted(np.array([(low + high) / 2]), (high - low) / 2, (high - low) / 2)
    fewer = _units(start, k - 1, g)
    count = len(fewer.weights) // 3
    if fewer.inside < _ENOUGH or 0 < count < k - _FAILURES:
        return fewer
    return _better(start, k, g, fewer)


def _better(start: KnownStart, k: int, g: Function, fewer: _Fitted) -> _Fitted:
    """Return the best proposal for k units, or the fit with fewer units if better.

    The slopes at the ends are kept fixed as soon as k units can have them.
    """
    target, best = _target(start), fewer
    base = _end_units(target.ends, ends_of(g))
    held = base is not None and base.shape[1] <= k
    problem = _problem(start, g, held)
    proposals = _proposals(start, problem, fewer.weights, k)
    if base is not None and base.shape[1] == k:
        proposals = iter([problem.centred(base)])
    for proposal in proposals:
        weights = problem.improved(proposal)
        if weights is None:
            continue
        errors = [_error(target, weights, g, limit) for limit in (INSIDE[-1], FAR)]
        new = _Fitted(weights, errors[0], errors[held])
        if new.inside <= best.inside and new.everywhere < 0.99 * best.everywhere - 1e-6:
            best = new
        if best.everywhere < 0.8 * fewer.everywhere:
            break
    return best


def _proposals(
    start: KnownStart, problem: UnitFit, fewer: np.ndarray, k: int
) -> Iterator[np.ndarray]:
    """Yield start weights: units at the knots of lines, and fewer units plus one."""
    carriers, _ = relu_units(fit_lines(start, k))
    if len(carriers) > 1:
        sign, bias, _ = np.array(carriers).T
        order = np.argsort(-sign * bias)
        knots = (-sign * bias)[order]
        gaps = np.gradient(knots)
        for steepness in _STEEPNESS:
            alpha = sign[order] * steepness / np.maximum(gaps, 0.1)
            yield problem.solved(alpha, knots)
    for rank in range(_RANKS):
        weights = fewer
        for _ in range(min(2, k - len(weights) // 3)):
            weights = problem.with_unit(weights, rank)
        yield weights


def _end_units(ends: Ends, of_g: Ends) -> np.ndarray | None:
    """Return the smallest set of units that has the slopes of a function at its ends.

    Args:
        ends: Slopes of the function.
        of_g: Slopes of g.

    Returns:
        alpha, knot and slope of each unit, of shape `(3, units)`. `None` if units of g
        cannot have these slopes, or the function does not approach a line.
    """
    if ends == (None, None) or None in of_g:
        return None
    left, right = (end or 0.0 for end in ends)
    a, b = (float(end or 0.0) for end in of_g)
    if abs(a) != abs(b):
        scale = b * b - a * a
        slopes = (b * right - a * left) / scale, (b * left - a * right) / scale
    elif left == right == 0:
        slopes = 0.0, 0.0
    elif a == b != 0 and (left == right or None in ends):
        slopes = (left or right) / a, 0.0
    else:
        return None
    units = [(sign, 0.0, slope) for sign, slope in zip((1, -1), slopes, strict=True)]
    return np.array([unit for unit in units if unit[2]]).reshape(-1, 3).T


@functools.lru_cache(maxsize=64)
def _problem(start: KnownStart, g: Function, held: bool) -> UnitFit:
    target = _target(start)
    inside = np.flatnonzero(np.abs(target.x) <= INSIDE[-1])[::10]
    outside = np.abs(target.x) > INSIDE[-1]
    outside = np.flatnonzero(outside & (np.abs(target.x) <= FAR) & held)[::5]
    chosen = np.sort(np.concatenate([inside, outside]))
    y = (target.y.min(axis=0) + target.y.max(axis=0))[chosen] / 2
    left, right = ends_of(g)
    if not held or left is None or right is None:
        return UnitFit(target.x[chosen], y, _samples(g))
    return UnitFit(target.x[chosen], y, _samples(g), target.ends, (left, right))


@functools.lru_cache(maxsize=8)
def _samples(g: Function) -> Samples:
    return Samples(evaluate(g, Samples.x))


def _error(target: _Target, weights: np.ndarray, g: Function, limit: float) -> float:
    """Return the largest error, computed with g itself instead of its samples."""
    x, y, _ = target.within(limit)
    carriers, constant = _carriers(weights)
    with np.errstate(all="ignore"):
        errors = constant - y
        for alpha, bias, beta in carriers:
            errors = errors + beta * evaluate(g, alpha * (x + _BESIDE) + bias)
    return float(np.nan_to_num(np.max(np.abs(errors)), nan=np.inf))


def _carriers(weights: np.ndarray) -> tuple[list[Carrier], float]:
    units = zip(*split(weights).tolist(), strict=True)
    carriers = [(a, -a * knot, slope / a) for a, knot, slope in units]
    return carriers, float(weights[-1])
