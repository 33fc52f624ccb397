"""Fits with g = relu against two independent references of the least error.

The largest error of a fit is at most 1.5 times that of the best lines.
"""

import numpy as np
import pytest

from keras_vaf.initializers import FunctionStart
from tests import reference
from tests.initializers.best_lines import least_error

pytestmark = pytest.mark.backend("tensorflow")

X = np.linspace(-8, 8, 3201)

# The best possible errors at k = 3 and k = 5, to three digits.
BEST = {
    "gelu": (0.085, 0.0153),
    "silu": (0.1394, 0.0240),
    "tanh": (0.0824, 0.0291),
    "sigmoid": (0.0413, 0.0146),
    "elu": (0.0248, 0.0093),
    "softplus": (0.0549, 0.0215),
}


@pytest.mark.parametrize("name", BEST)
@pytest.mark.parametrize("i, k", [(0, 3), (1, 5)])
def test_the_error_is_near_the_best_possible_one(name, i, k):
    error = FunctionStart(name).error(k).largest
    assert 0.99 * BEST[name][i] <= error <= 1.5 * BEST[name][i]


@pytest.mark.parametrize(
    "name, fewest",
    [
        ("softplus", 2),
        ("elu", 2),
        ("gelu", 4),
        ("silu", 4),
        ("tanh", 4),
        ("sigmoid", 4),
    ],
)
def test_no_other_lines_are_much_nearer(name, fewest):
    """The bound is tight for convex functions; it allows lines that do not meet."""
    start = FunctionStart(name)
    f = reference.FUNCTIONS[name][0]
    for k in range(fewest, 17):
        least = least_error(f, *start.ends, lines=k + 1)
        assert least <= start.error(k).largest <= 1.5 * least


def nearest_on_a_grid(f, left, right, reach, widest, most):
    """Return the least errors of 1, 2, ... knots from a grid, by dynamic programming.

    Args:
        f: The function to come near.
        left: Slope left of all knots.
        right: Slope right of all knots.
        reach: Largest distance of a knot from 0.
        widest: Largest distance of a knot from the graph of f.
        most: Largest number of knots.
    """
    places, offsets = np.linspace(-reach, reach, 41), np.linspace(-widest, widest, 15)
    part = np.linspace(0, 1, 33)

    def ray(place, slope, side):
        x = np.append(X[(X - place) * side >= 0], 100 * side)
        distance = f(x) - f(place) - slope * (x - place)
        return np.maximum(distance.max() - offsets, offsets - distance.min())

    def segment(start, end):
        y = f(start + part * (end - start))
        distance = y - (1 - part) * y[0] - part * y[-1]
        begins, ends = (1 - part) * offsets[:, None, None], part * offsets[:, None]
        return np.abs(distance - begins - ends).max(axis=-1)

    errors = np.array([ray(place, left, -1) for place in places])
    last = np.array([ray(place, right, 1) for place in places])
    least = []
    for _ in range(most):
        least.append(np.maximum(errors, last).min())
        new = np.full_like(errors, np.inf)
        for i, end in enumerate(places[1:], 1):
            between = np.stack([segment(start, end) for start in places[:i]])
            new[i] = np.maximum(errors[:i, :, None], between).min(axis=(0, 1))
        errors = new
    return least


@pytest.mark.parametrize(
    "name, reach, widest", [("gelu", 4, 0.09), ("silu", 6, 0.142), ("tanh", 3, 0.086)]
)
def test_no_knots_of_a_grid_are_better(name, reach, widest):
    start = FunctionStart(name)
    f = reference.FUNCTIONS[name][0]
    found = nearest_on_a_grid(f, *start.ends, reach, widest, most=3)
    for k, error in enumerate(found, 1):
        assert start.error(k).largest <= 1.01 * error
