"""A bound on the error of functions made of straight lines: `least_error`.

The bound is an independent check of the fits of `keras_vaf.initializers`. It allows
lines that do not meet, and needs no search for knots.
"""

from collections.abc import Callable

import numpy as np

_OUTSIDE = 8 * 1.1 ** np.arange(1, 61)
X = np.concatenate([-_OUTSIDE[::-1], np.linspace(-8, 8, 25_601), _OUTSIDE])
"""Points at which the error counts: close to each other on [-8, 8], sparse beyond."""


def least_error(
    f: Callable[[np.ndarray], np.ndarray], left: float, right: float, lines: int
) -> float:
    """Return a lower bound of the largest error of a function made of lines.

    The bound is the least error itself if the function is convex, since the best lines
    of a convex function meet.

    Args:
        f: The function to come near.
        left: Slope of the first line.
        right: Slope of the last line.
        lines: Number of lines, at least 2.
    """
    y = f(X)
    low, high = 0.0, float(np.ptp(y - np.where(X < 0, left, right) * X))
    while high - low > 1e-4 * high:
        error = (low + high) / 2
        if _count(y, left, right, error, lines) <= lines:
            high = error
        else:
            low = error
    return low


def _count(y: np.ndarray, left: float, right: float, error: float, enough: int) -> int:
    """Return how many lines it takes to stay within an error, or a number too many."""
    place = _reach(y - left * X, error)
    end = len(X) - _reach((y - right * X)[::-1], error)
    count = 2
    while place < end and count <= enough:
        place = _farthest(y, place, error)
        count += 1
    return count


def _reach(y: np.ndarray, error: float) -> int:
    """Return how many values from the first one on differ by twice an error at most."""
    width = np.maximum.accumulate(y) - np.minimum.accumulate(y)
    return int(np.searchsorted(width, 2 * error, side="right"))


def _farthest(y: np.ndarray, start: int, error: float) -> int:
    """Return the place before which a line from a place on stays within an error."""
    near, step = start + 2, 64
    while near + step <= len(y) and _line_fits(y, start, near + step, error):
        near, step = near + step, 2 * step
    far = min(near + step, len(y) + 1)
    while far - near > 1:
        middle = (near + far) // 2
        if _line_fits(y, start, middle, error):
            near = middle
        else:
            far = middle
    return near


def _line_fits(y: np.ndarray, start: int, end: int, error: float) -> bool:
    """Tell whether a line stays within an error, by Kelley's cutting planes.

    The width of y - slope x is a convex function of the slope. Each slope gives a line
    below it, and the next slope is where the two nearest of these lines cross.
    """
    x, y = X[start:end], y[start:end]
    rises = np.diff(y) / np.diff(x)
    low, high = rises.min(), rises.max()
    cuts = [_cut(x, y, low), _cut(x, y, high)]
    while True:
        (width, fall), (other, rise) = cuts
        if min(width, other) <= 2 * error:
            return True
        if fall >= 0 or rise <= 0 or high - low < 1e-12:
            return False
        slope = low + (other - width - rise * (high - low)) / (fall - rise)
        if width + fall * (slope - low) > 2 * error:
            return False
        cut = _cut(x, y, slope)
        if cut[1] < 0:
            cuts[0], low = cut, slope
        else:
            cuts[1], high = cut, slope


def _cut(x: np.ndarray, y: np.ndarray, slope: float) -> tuple[float, float]:
    """Return the width of y - slope x, and how it changes with the slope."""
    distance = y - slope * x
    top, bottom = np.argmax(distance), np.argmin(distance)
    return distance[top] - distance[bottom], x[bottom] - x[top]
