"""Fits: the least mean square, slopes and zeros at both ends, no growth with k."""

import itertools

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.initializers.fit import LIKELY, fit
from keras_vaf.initializers.start import INSIDE, limit_slopes
from keras_vaf.ops import NAMES
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


def rms(start, k, g="relu"):
    """Return the root mean square error at likely inputs."""
    x = np.array(LIKELY)
    return np.sqrt(np.mean((curve(start, k, g, x) - start.target(x)) ** 2))


CURVES = ("gelu", "tanh", "silu", "softplus", "elu", "relu", "sigmoid")
PAIRS = [(name, "relu") for name in (*NAMES, wavelet)]
PAIRS += itertools.product(CURVES, ("tanh", "sigmoid", "gelu"))


@pytest.mark.parametrize("sizes", [SIZES, MORE_SIZES])
@pytest.mark.parametrize(("f", "g"), PAIRS)
def test_more_units_are_never_worse_and_the_ends_hold(f, g, sizes):
    start, ends_of_g = FunctionStart(f), FunctionStart(g).ends
    least = 1 if start.fitted(get_function(g, "g")) else 3  # of lines
    sizes = [k for k in sizes if k >= least]
    errors = [rms(start, k, g) for k in sizes]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(errors))
    steepest = np.abs(np.gradient(start.target(INSIDE), INSIDE)).max()
    far = np.array([-900.0, 900])
    # A unit that is inactive stays so: of ReLU, not even a rounding error is left.
    inactive = np.abs(start.target(far)) < 1e-2
    zero = 0 if g == "relu" else 1e-12
    for k in [each for each in sizes if each > 1]:
        if ends_of_g != (0, 0) or start.ends == (0, 0):
            pairs = zip(start.ends, slopes_at_ends(start, k, g), strict=True)
            assert all(abs(a - b) < 1e-9 for a, b in pairs if a is not None)
        if inactive.sum() == 1:
            assert np.all(np.abs(curve(start, k, g, far)[inactive]) <= zero)
        alpha, alpha_bias, beta, _ = start.units(k, get_function(g, "g"))
        hidden = reference.FUNCTIONS[g][0](INSIDE[:, None] * alpha + alpha_bias)
        slopes = np.abs(np.gradient(hidden, INSIDE, axis=0)).max(axis=0)
        assert slopes @ np.abs(beta) <= 10.1 * steepest  # units do not cancel


# The least errors at k = 3, 5 and 7 of 80 fits from random knots.
BEST = {
    "silu": (0.0549, 0.0137, 0.0075),
    "gelu": (0.0424, 0.0076, 0.0045),
    "mish": (0.0364, 0.0105, 0.0061),
    "tanh": (0.0386, 0.0138, 0.0072),
    "elu": (0.0110, 0.0040, 0.0021),
    "softplus": (0.0352, 0.0132, 0.0069),
    "hard_silu": (0.0924, 0.0256, 0.0111),
    "sigmoid": (0.0187, 0.0066, 0.0035),
}


@pytest.mark.parametrize("name", BEST)
def test_the_error_is_near_that_of_the_best_lines(name):
    found = [rms(FunctionStart(name), k) for k in (3, 5, 7)]
    assert found == pytest.approx(BEST[name], rel=0.02)


def test_a_jump_is_seen():
    start = FunctionStart("hard_shrink")
    for k in (2, 12):  # half of the jump is the least error of a continuous function
        assert start.error(k).largest >= 0.2499
    assert rms(start, 12) < 0.02


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
    knots=st.lists(st.integers(-16, 16), min_size=1, max_size=3, unique=True),
    changes=st.lists(st.integers(-4, 4), min_size=3, max_size=3),
)
def test_lines_are_found_again(knots, changes):
    knots = np.sort(knots) / 4
    slopes = np.cumsum([0, *changes[: len(knots)]]) / 2
    start = Fitted(knots, slopes)
    errors = [rms(start, k) for k in range(1, 1 + len(knots))]
    assert all(b <= a + 1e-9 for a, b in itertools.pairwise(errors))
    assert errors[-1] < 1e-3


@pytest.mark.parametrize(
    "f, g, k, mean",
    [
        ("silu", "gelu", 1, 0.0129),
        ("silu", "gelu", 2, 0.0009),
        ("tanh", "gelu", 2, 0.047),
        ("sigmoid", "softplus", 2, 0.0002),
        ("gelu", "tanh", 3, 0.026),
        ("gelu", "sin", 4, 0.02),
        ("relu", "leaky_relu", 2, 0.002),
        ("softsign", "relu", 7, 0.0117),
    ],
)
def test_the_reported_error_is_that_of_the_function_and_small(f, g, k, mean):
    start, x = FunctionStart(f), np.linspace(-8, 8, 320_001)  # near every knot
    error = np.max(np.abs(curve(start, k, g, x) - reference.FUNCTIONS[f][0](x)))
    assert start.error(k, g).largest == pytest.approx(error, rel=1e-3, abs=1e-6)
    assert rms(start, k, g) <= mean


def test_slopes_of_limits_of_other_functions():
    for function, ends in (
        *((each, (None, None)) for each in (np.sqrt, np.square, np.log1p)),
        (lambda x: x / 3 + np.sin(x), (None, None)),
        *((np.abs, (-1, 1)), (np.arctan, (0, 0))),
    ):
        assert limit_slopes(function) == ends
