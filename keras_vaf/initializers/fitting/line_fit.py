"""`nearest_lines`, which finds the best piecewise-linear fit of a function.

A least-squares fit with knots at equal shares of sqrt|f''| needs a tenth of these
lines. Its largest error is 2.0 times as large (median over eight functions with 2, 3, 5
and 8 hidden units).
"""

from collections.abc import Sequence

import numpy as np

from keras_vaf.ops.fixed_function import Lines

Pattern = list[float | None]
"""Slopes of consecutive lines; `None` for a slope that the fit chooses."""
Line = tuple[float, float]
"""Slope and value at 0."""
Chain = tuple[np.ndarray, np.ndarray]
"""x, in ascending order, and y of points that a line must stay above or below."""

_STEP = 0.995  # ratio of neighbouring levels of the error
_LEAST = 1e-7  # smallest level
_POINTS = 800


def nearest_lines(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, patterns: Sequence[Pattern]
) -> Lines:
    """Return the piecewise-linear function that minimizes the largest error.

    A bound on the error defines a tube around the graph of the function. The lines
    through a tube are found exactly: each line reaches as far to the right as possible.
    Bisection over fixed error levels finds the narrowest tube through which the lines
    of a pattern fit. Therefore a pattern with more lines never gives a larger error.

    Args:
        x: Points, in ascending order.
        low: Smallest value of the function near each point.
        high: Largest value near each point; above `low` where the function jumps.
        patterns: Sequences of slopes, of which the best is used. Lines with a free
            slope can be left out.

    Returns:
        The knots, the slopes and the value at the first knot.
    """
    error = max(_simplest_error(x, low, high, pattern) for pattern in patterns)
    chosen = _choose(x, (low + high) / 2)
    lines = _narrowest(x[chosen], low[chosen], high[chosen], patterns, error + _LEAST)
    slopes, constants = np.array(lines).T
    if len(lines) == 1:
        return Lines((0.0,), (slopes[0], slopes[0]), constants[0])
    knots = -np.diff(constants) / np.diff(slopes)
    first = slopes[0] * knots[0] + constants[0]
    return Lines(tuple(knots.tolist()), tuple(slopes.tolist()), float(first))


def _choose(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Choose points that are dense where the function has a large curvature."""
    gaps = np.diff(x)
    bends = np.diff(np.diff(y) / gaps)
    density = np.sqrt(np.abs(np.concatenate([[0], bends, [0]])) * np.append(gaps, 0))
    density = density / max(density.sum(), 1e-300) + 0.25 / len(x)
    levels = np.linspace(0, density.sum(), _POINTS)[:-1]
    return np.unique([*np.searchsorted(np.cumsum(density), levels), len(x) - 1])


def _simplest_error(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, pattern: Pattern
) -> float:
    """Return the error of the two lines at the ends of a pattern, through (0, 0)."""
    left, right = pattern[0] or 0.0, pattern[-1] or 0.0
    y = left * np.minimum(x, 0) + right * np.maximum(x, 0)
    return float(np.max(np.maximum(y - low, high - y)))


def _narrowest(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    patterns: Sequence[Pattern],
    widest: float,
) -> list[Line]:
    """Return the lines through the narrowest tube that fits a pattern."""

    def through(level: int) -> list[Line]:
        error = widest * _STEP**level
        found = (_through(x, high - error, low + error, each) for each in patterns)
        return next(filter(None, found), [])

    best, first, last = through(0), 0, int(np.log(_LEAST / widest) / np.log(_STEP)) + 1
    while last - first > 1:
        level = (first + last) // 2
        lines = through(level)
        if lines:
            best, first = lines, level
        else:
            last = level
    return best


def _through(
    x: np.ndarray, lower: np.ndarray, upper: np.ndarray, pattern: Pattern
) -> list[Line]:
    """Return the lines of a pattern through a tube, or none if they do not fit."""
    above: Chain = (x, upper)
    below: Chain = (x, lower)
    lines: list[Line] = []
    end = pattern[-1]
    for i, slope in enumerate(pattern):
        rest = pattern[max(i, 1) : -1]
        if rest == [None] * len(rest) and (i > 0 or slope == end):
            line, turn = _farthest(above, below, end)
            if turn is None:
                return [*lines, line]
        if i == len(pattern) - 1:
            break
        line, turn = _farthest(above, below, slope)
        if not np.all(np.isfinite(line)):  # the tube is as narrow as rounding errors
            break
        lines.append(line)
        if turn is None:  # the last line starts where the tube ends
            a, c = line
            return lines if end is None else [*lines, (end, c + (a - end) * x[-1])]
        above, below = turn
    return []


def _farthest(
    above: Chain, below: Chain, slope: float | None
) -> tuple[Line, tuple[Chain, Chain] | None]:
    """Return the line between two chains that reaches farthest to the right.

    Returns:
        The line, and the two chains that the next line must stay between. The chains
        are `None` if the line reaches the end.
    """
    places = np.union1d(above[0], below[0])
    width = 32
    while True:
        width *= 2
        limit = places[:width][-1]
        near_above, near_below = _until(limit, *above), _until(limit, *below)
        most, least = _bounds(near_above, near_below, slope)
        top = np.minimum.accumulate(np.append(np.inf, most))
        bottom = np.maximum.accumulate(np.append(-np.inf, least))
        tops = top[np.searchsorted(near_above[0], places[:width], side="right")]
        bottoms = bottom[np.searchsorted(near_below[0], places[:width], side="right")]
        wrong = np.flatnonzero(bottoms > tops)
        if len(wrong):
            break
        if width >= len(places):
            return _between(above, below, slope, (top[-1] + bottom[-1]) / 2), None
    last = wrong[0]
    if bottoms[last] > tops[max(last - 1, 0)]:
        return _turn(above, most, below, slope, places[last])
    mirrored = (_mirror(below), -least, _mirror(above))
    slope = None if slope is None else -slope
    (a, c), chains = _turn(*mirrored, slope, places[last])
    return (-a, -c), (_mirror(chains[1]), _mirror(chains[0]))


def _until(limit: float, x: np.ndarray, y: np.ndarray) -> Chain:
    count = np.searchsorted(x, limit, side="right")
    return x[:count], y[:count]


def _mirror(chain: Chain) -> Chain:
    return chain[0], -chain[1]


def _bounds(
    above: Chain, below: Chain, slope: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return upper and lower bounds that the points of two chains set for a line.

    They bound the value at 0 of a line with a given slope, or the slope if it is free.
    """
    (ax, ay), (bx, by) = above, below
    if slope is not None:
        return ay - slope * ax, by - slope * bx
    distance = ax - bx[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = (ay - by[:, None]) / distance
    most = np.where(distance > 0, rise, np.inf).min(axis=0, initial=np.inf)
    least = np.where(distance < 0, rise, -np.inf).max(axis=1, initial=-np.inf)
    return most, least


def _between(above: Chain, below: Chain, slope: float | None, middle: float) -> Line:
    """Return the middle one of the lines that reach the end."""
    if slope is not None:
        return slope, float(middle)
    (ax, ay), (bx, by) = above, below
    constant = (np.min(ay - middle * ax) + np.max(by - middle * bx)) / 2
    return float(middle), float(constant)


def _turn(
    above: Chain, most: np.ndarray, below: Chain, slope: float | None, end: float
) -> tuple[Line, tuple[Chain, Chain]]:
    """Return the line that touches the upper chain and then crosses the lower one.

    The next line crosses this line between these two points. It stays below the upper
    chain from the first point on, and above the lower chain from the second point on.
    """
    (ax, ay), (bx, by) = above, below
    touch = int(np.argmin(most[: max(np.searchsorted(ax, end), 1)]))
    a = float(most[touch]) if slope is None else slope
    if not np.isfinite(a):
        return (a, 0.0), (above, below)
    c = float(ay[touch] - a * ax[touch])
    last = int(np.searchsorted(bx, end))
    start = max(last - 1, 0)
    before, after = by[[start, last]] - a * bx[[start, last]] - c
    part = -before / (after - before) if before < 0 < after else 0.0
    leaves = bx[start] + (bx[last] - bx[start]) * part
    return (a, c), (
        (ax[touch:], ay[touch:]),
        (np.append(leaves, bx[last:]), np.append(a * leaves + c, by[last:])),
    )
