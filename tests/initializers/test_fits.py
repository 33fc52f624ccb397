"""Fits: the least largest error, slopes at both ends, no growth with k."""

import itertools

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.fit import fit
from keras_vaf.initializers.start import limit_slopes
from keras_vaf.ops import NAMES
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import get_function
from tests import reference

pytestmark = pytest.mark.backend("tensorflow")

RELU = keras.activations.relu
SIZES = (1, 2, 3, 5, 8)
MORE_SIZES = pytest.param((3, 4, 5, 6, 7, 9, 12, 16), marks=pytest.mark.nightly)
X = np.linspace(-8, 8, 16_001)


def curve(start, k, g="relu", x=X):
    """Return the values of a start in NumPy."""
    return reference.vaf(x, *start.units(k, get_function(g, "g")), g)


def slopes_at_ends(start, k, g="relu"):
    """Return the slopes far left and far right."""
    far = np.array([-3e4, -2e4, 2e4, 3e4])
    y = curve(start, k, g, far)
    return (y[1] - y[0]) / 1e4, (y[3] - y[2]) / 1e4


@keras.saving.register_keras_serializable(package="tests")
def wavelet(x):
    return ops.sin(3 * x) * ops.exp(-ops.square(x) / 2)


@pytest.mark.parametrize("sizes", [SIZES, MORE_SIZES])
@pytest.mark.parametrize("name", NAMES)
def test_more_units_never_have_a_larger_error(name, sizes):
    start = FunctionStart(name)
    least = 0 if elementwise(get_function(name, "name")).lines is None else 3
    errors = [start.error(k) for k in sizes if k >= least]
    assert all(b.largest <= a.largest for a, b in itertools.pairwise(errors))
    for k in (3, 8):
        pairs = zip(start.ends, slopes_at_ends(start, k), strict=True)
        assert all(abs(end - found) < 1e-9 for end, found in pairs if end is not None)


# The least errors at k = 3 and k = 5, and a lower bound at k = 8: the error of nine
# lines that need not meet, found without a search for knots.
BEST = {
    "gelu": (0.085, 0.0153, 0.00786),
    "silu": (0.1394, 0.0240, 0.01365),
    "tanh": (0.0824, 0.0291, 0.00889),
    "sigmoid": (0.0413, 0.0146, 0.00444),
    "elu": (0.0248, 0.0093, 0.00372),
    "softplus": (0.0549, 0.0215, 0.00879),
}


@pytest.mark.parametrize("name", BEST)
def test_the_error_is_near_that_of_the_best_lines(name):
    for k, best in zip((3, 5, 8), BEST[name], strict=True):
        assert 0.99 * best <= FunctionStart(name).error(k).largest <= 1.5 * best


def test_a_jump_is_seen():
    start = FunctionStart("hard_shrink")
    for k in (2, 12):  # half of the jump is the least error of a continuous function
        assert 0.2499 <= start.error(k).largest <= 1.5 * 0.25


@pytest.mark.parametrize("k", [1, 4, 12])
def test_functions_of_your_own(k):
    start = FunctionStart(wavelet)
    assert start.ends == (0, 0)
    assert slopes_at_ends(start, k) == pytest.approx((0, 0), abs=1e-9)
    errors = [start.error(size).largest for size in (k, k + 1)]
    assert errors[1] <= errors[0] <= 0.9


@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_a_function_without_values_on_one_side(g):
    start = FunctionStart(ops.sqrt)
    values = start.units(5, get_function(g, "g"))
    x = np.linspace(0.01, 8, 100)
    assert np.max(np.abs(reference.vaf(x, *values, g) - np.sqrt(x))) < 0.1


class Fitted(PiecewiseLinearStart):
    """Lines that are fitted even if g is ReLU."""

    def units(self, k, g):
        return fit(self, k, g)


@settings(max_examples=8, deadline=None)
@given(
    knots=st.lists(st.integers(-28, 28), min_size=1, max_size=5, unique=True),
    changes=st.lists(st.integers(-4, 4), min_size=5, max_size=5),
)
def test_lines_are_found_again(knots, changes):
    knots = np.sort(knots) / 4
    slopes = np.cumsum([0, *changes[: len(knots)]]) / 2
    lines = PiecewiseLinearStart(knots, slopes)
    start = Fitted(knots, slopes)
    errors = [start.error(k).largest for k in range(1, 1 + len(knots))]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(errors))
    x = np.linspace(-8, 8, 65)
    value = lines.target(x)
    np.testing.assert_allclose(curve(start, len(knots), x=x), value, atol=1e-6)


@pytest.mark.parametrize(
    "f, g, k, largest",
    [
        ("silu", "gelu", 1, 0.023),
        ("silu", "gelu", 2, 0.003),
        ("tanh", "gelu", 2, 0.08),
        ("sigmoid", "softplus", 2, 0.005),
        ("gelu", "tanh", 3, 0.03),
        ("gelu", "sin", 4, 0.03),
        ("relu", "leaky_relu", 2, 1e-3),
        ("softsign", "relu", 7, 0.035),
    ],
)
def test_the_reported_error_is_that_of_the_function_and_small(f, g, k, largest):
    start, x = FunctionStart(f), np.linspace(-8, 8, 320_001)  # near every knot
    error = np.max(np.abs(curve(start, k, g, x) - reference.FUNCTIONS[f][0](x)))
    assert start.error(k, g).largest == pytest.approx(error, rel=1e-3, abs=1e-6)
    assert error <= largest


CURVES = ("gelu", "tanh", "silu", "softplus", "elu", "relu", "sigmoid")


@pytest.mark.parametrize("f", CURVES)
@pytest.mark.parametrize("g", ["relu", "tanh", "sigmoid", "gelu"])
def test_fits_keep_their_promises(f, g):
    """No growth of the error, the slopes at both ends, units that do not cancel."""
    start, ends_of_g = FunctionStart(f), FunctionStart(g).ends
    x = np.linspace(-8, 8, 801)
    steepest = np.abs(np.gradient(reference.FUNCTIONS[f][0](x), x)).max()
    last = np.inf
    for k in (2, 3, 5, 8):
        errors, found = start.error(k, g), slopes_at_ends(start, k, g)
        assert errors.largest <= last
        last = errors.largest
        if ends_of_g != (0, 0) or start.ends == (0, 0):
            assert found == pytest.approx(start.ends, abs=1e-9)
            assert max(errors) <= errors.largest + 1e-3
        alpha, alpha_bias, beta, _ = start.units(k, get_function(g, "g"))
        hidden = reference.FUNCTIONS[g][0](x[:, None] * alpha + alpha_bias)
        slopes = np.abs(np.gradient(hidden, x, axis=0)).max(axis=0)
        assert slopes @ np.abs(beta) <= 10.1 * steepest


def test_slopes_of_limits_of_other_functions():
    for function, ends in (
        *((each, (None, None)) for each in (np.sqrt, np.square, np.log1p)),
        (lambda x: x / 3 + np.sin(x), (None, None)),
        (np.abs, (-1, 1)),
        (np.arctan, (0, 0)),
    ):
        assert limit_slopes(function) == ends
