"""`fit`, which fits a known function by k hidden units of any g.

f(x) = sum_j slope_j g(alpha_j (x - knot_j)) / alpha_j + constant. The mean square of
the errors at the inputs is minimized: by slopes and constant as a linear least-squares
problem, and by alpha and the knots with the Levenberg-Marquardt method (variable
projection). Far left and far right, f keeps the slopes of the function, and is exactly
0 where the function goes to 0, as far as k units of g can do so.

Reference:
    Golub and Pereyra, 2003, "Separable nonlinear least squares".
"""

import functools
import itertools
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from keras_vaf.initializers.start import KnownStart, Values, ends_of, limits
from keras_vaf.initializers.units import Carrier, carry
from keras_vaf.ops.functions import Function, evaluate


def _likely() -> tuple[float, ...]:
    """Return 400 quantiles of a density of inputs with wide tails."""
    x = np.linspace(-16, 16, 6401)
    parts = [(0.7, NormalDist(0, 1.5)), (0.3, NormalDist(0, 4))]
    shares = [sum(w * part.cdf(each) for w, part in parts) for each in x.tolist()]
    return tuple(np.interp((np.arange(400) + 0.5) / 400, shares, x).tolist())


LIKELY = _likely()
"""Inputs of a fit without data."""
_STEP, _MIDDLE = 5e-4, 17_500  # of arcsinh(x) between known values of g
_GRID = np.sinh(np.arange(-_MIDDLE, _MIDDLE + 1) * _STEP)  # to 3,000, dense near 0
_STEPS, _TRIES = 30, 6
_FLATTEST, _STEEPEST, _FARTHEST = 1 / 16, 8.0, 64.0  # bounds of |alpha| and |knot|
_MOST_CANCELLED = 10.0  # bound of the units' slopes, relative to the function's
_RIDGES = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)  # the first that keeps the bound is taken
_HELD = 1e3  # weight of what holds at the ends, before it is made exact
_IDLE = 1e-6  # a hidden unit whose values differ by less is a constant
_ENOUGH = 1e-4  # errors below this need no further units
_PLACES = tuple(itertools.product((0, 1), (0.1, 0.3, 0.5, 0.7, 0.9)))
"""Powers and shifts of the knots at which a fit begins."""


@functools.lru_cache(maxsize=256)
def fit(
    start: KnownStart, k: int, g: Function, inputs: tuple[float, ...] = LIKELY
) -> Values:
    """Return the start values of k hidden units that fit the function of a start.

    The root mean square error at the inputs, which ascend, does not grow with k.
    """
    with np.errstate(all="ignore"):  # a steep g overflows far from 0
        best = _best(start, k, g, inputs)
        hidden = evaluate(g, best.alpha * (np.array(inputs)[:, None] - best.knot))
    beta, constant = best.slopes[:-1] / best.alpha, float(best.slopes[-1])
    units = np.stack([best.alpha, -best.alpha * best.knot, beta], axis=-1)
    if not best.held:  # then constants, which cannot learn, hold no end either
        idle = np.ptp(hidden, axis=0) < _IDLE
        units, constant = units[~idle], constant + float(hidden[0, idle] @ beta[idle])
    carriers: list[Carrier] = [(a, bias, b) for a, bias, b in units.tolist()]
    return carry(carriers, constant, k, g, "A fit")


class _Fit(NamedTuple):
    alpha: np.ndarray
    knot: np.ndarray
    slopes: np.ndarray  # of the units, then the constant
    size: float  # root mean square error
    held: int  # number of facts at the ends that hold
    error: np.ndarray  # at all inputs, then at the ends
    changes: np.ndarray  # of the error by log|alpha| and by the knots
    span: np.ndarray  # orthonormal columns that slopes and constant can reach


@functools.lru_cache(maxsize=256)
def _best(start: KnownStart, k: int, g: Function, inputs: tuple[float, ...]) -> _Fit:
    """Return the best fit by at most k units, which may be the one by k - 1 units."""
    problem = _problem(start, g, inputs)
    fits = []
    if k > 1:
        fewer = _best(start, k - 1, g, inputs)
        if fewer.held == len(problem.facts) and fewer.size < _ENOUGH:
            return fewer
        fits = [fewer, *map(problem.minimized, *problem.with_one_more(fewer))]
    starts = (problem.at_knots(k, *each) for each in _PLACES)
    fits += [problem.minimized(*each) for each in starts]
    return min(fits, key=lambda each: (-each.held, each.size))


class _Problem:
    """The inputs and values of a function, and the values and slopes of g."""

    def __init__(
        self, start: KnownStart, g: Function, inputs: tuple[float, ...]
    ) -> None:
        x = np.array(inputs)
        left, y, right = start.target(np.stack([x - 0.05, x, x + 0.05]))
        known = np.isfinite(y)
        self._x, self._y = x[known], y[known]
        self._bend = np.nan_to_num(np.abs(left - 2 * y + right)[known]) ** 0.4 + 1e-6
        self._steepest = np.max(np.abs(np.nan_to_num(right - left)[known])) * 10 + 1e-9
        self._ends, self._ends_of_g = start.ends, ends_of(g)
        self._lines = limits(lambda x: evaluate(g, x), self._ends_of_g)
        slopes, offsets = limits(start.target, self._ends)
        self._at_ends = np.array([*slopes, 0, 0])
        held = [end is not None for end in self._ends]
        pairs = zip(self._ends, offsets, strict=True)
        held += [end == 0 and offset == 0 for end, offset in pairs]
        self.facts = [] if None in self._ends_of_g else np.flatnonzero(held).tolist()
        self._values, self._rise = _table(g)

    def at_knots(
        self, k: int, power: int, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return alpha and the knots of units that divide the bends of the function.

        With power 0, bends count where most inputs are, and with 1 everywhere.
        """
        shares = np.cumsum(self._bend * (np.gradient(self._x) + 1e-9) ** power)
        knot = np.interp((np.arange(k) + shift) / k * shares[-1], shares, self._x)
        gap = np.maximum(np.gradient(knot), 0.1) if k > 1 else np.ones(1)
        sign = np.where(np.arange(k) < k // 2, -1.0, 1.0)
        ends = self._ends
        if ends == (0, 0) or (0 in ends and 0 in self._ends_of_g):  # one sign is enough
            sign = np.full(k, 1.0 if ends[0] == 0 else -1.0)
        return sign / gap, knot

    def with_one_more(self, fewer: _Fit) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return alpha and knots with a further unit where errors are large."""
        error = np.abs(fewer.error[: len(self._x)])
        places = self._x[np.argsort(error)[[-1, -len(error) // 50, -len(error) // 10]]]
        alpha = np.append(fewer.alpha, fewer.alpha[-1])
        return [alpha] * 3, [np.append(fewer.knot, place) for place in places]

    def minimized(self, alpha: np.ndarray, knot: np.ndarray) -> _Fit:
        """Minimize the mean square by the Levenberg-Marquardt method."""
        held, k, damping = self._attainable(alpha, knot), len(alpha), 1e-3
        best = self._solved(alpha, knot, held)
        for _ in range(_STEPS):
            # Slopes and constant follow each step of alpha and the knots.
            changes = best.changes - best.span @ (best.span.T @ best.changes)
            normal, wanted = changes.T @ changes, -changes.T @ best.error
            scale = np.diag(np.diag(normal) + 1e-9)
            for _ in range(_TRIES):
                step = np.linalg.solve(normal + damping * scale, wanted)
                steeper = np.abs(best.alpha) * np.exp(np.clip(step[:k], -1, 1))
                alpha = np.copysign(np.clip(steeper, _FLATTEST, _STEEPEST), best.alpha)
                knot = np.clip(best.knot + step[k:], -_FARTHEST, _FARTHEST)
                found = self._solved(alpha, knot, held)
                if found.size < best.size:
                    break
                damping *= 10
            else:
                break
            gained = found.size < 0.9999 * best.size
            best, damping = found, max(damping / 5, 1e-9)
            if not gained:
                break
        return best

    def _attainable(self, alpha: np.ndarray, knot: np.ndarray) -> list[int]:
        """Return which facts at the ends units with these signs can have together."""
        rows, held = self._far(alpha, knot)[0], list[int]()
        for fact in self.facts:
            some, wanted = [*held, fact], self._at_ends[[*held, fact]]
            if np.allclose(rows[some] @ np.linalg.pinv(rows[some]) @ wanted, wanted):
                held = some
        return held

    def _solved(self, alpha: np.ndarray, knot: np.ndarray, held: list[int]) -> _Fit:
        """Return the least-squares fit with this alpha and these knots."""
        n, k = len(self._x), len(alpha)
        near, far = self._near(alpha, knot), self._far(alpha, knot)[:, held]
        at_knot = abs(self._rise[_MIDDLE])  # a knot may be far from all points
        steepest = np.max(np.abs(near[2, :, :k]), axis=0, initial=at_knot)
        design = np.concatenate([near / np.sqrt(n), _HELD * far], axis=1)
        ends = self._at_ends[held]
        wanted = np.concatenate([self._y / np.sqrt(n), _HELD * ends])
        back = np.linalg.pinv(far[0])
        for ridge in _RIDGES:
            q, r = np.linalg.qr(np.concatenate([design[0], ridge * np.eye(k + 1)]))
            span = q[: len(wanted)]
            slopes = np.linalg.solve(r, span.T @ wanted)
            slopes += back @ (ends - far[0] @ slopes)  # exactly
            cancelled = np.abs(slopes[:-1]) @ steepest / self._steepest
            if cancelled <= _MOST_CANCELLED:
                break
        error = design[0] @ slopes - wanted
        size = float(np.linalg.norm(error[:n]))
        size = size if cancelled <= _MOST_CANCELLED else np.inf
        changes = np.concatenate([*(design[1:, :, :k] * slopes[:k])], axis=-1)
        return _Fit(alpha, knot, slopes, size, len(held), error, changes, span)

    def _near(self, alpha: np.ndarray, knot: np.ndarray) -> np.ndarray:
        """Return units and the constant at the inputs, of shape `(3, inputs, k + 1)`.

        Stacked behind are their changes by log|alpha| and by the knot.
        """
        away = self._x[:, None] - knot
        place = np.floor(np.arcsinh(alpha * away) / _STEP) + _MIDDLE
        place = np.clip(place, 0, 2 * _MIDDLE - 1).astype("int32")
        rise = self._rise[place]
        units = (self._values[place] + rise * (alpha * away - _GRID[place])) / alpha
        return _with_constant([units, rise * away - units, -rise], 0)

    def _far(self, alpha: np.ndarray, knot: np.ndarray) -> np.ndarray:
        """Return slopes at both ends, then offsets, stacked like `_near`."""
        side = np.where(alpha > 0, [[0], [1]], [[1], [0]])
        slope, offset = (np.array(each)[side] for each in self._lines)
        zero, offset = np.zeros_like(slope), offset / alpha
        lines = [(slope, offset - slope * knot), (zero, -offset), (zero, -slope)]
        return _with_constant([np.concatenate(each) for each in lines], 2)


def _with_constant(parts: list[np.ndarray], first: int) -> np.ndarray:
    """Stack arrays, with a column for the constant, which is 1 from a row on."""
    column = np.zeros((3, len(parts[0]), 1))
    column[0, first:] = 1
    return np.concatenate([np.stack(parts), column], axis=-1)


_problem = functools.lru_cache(maxsize=64)(_Problem)


@functools.lru_cache(maxsize=64)
def _table(g: Function) -> tuple[np.ndarray, np.ndarray]:
    """Return values of g and the slopes between them."""
    values = np.nan_to_num(evaluate(g, _GRID), nan=1e30)
    return values, np.nan_to_num(np.diff(values) / np.diff(_GRID))
