"""Every fact of the table of activations, against closed forms in NumPy."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.ops import NAMES
from keras_vaf.ops.activations import (
    ACTIVATIONS,
    ALIASES,
    KERAS_NAMES,
    FixedFunction,
    elementwise,
)
from keras_vaf.ops.functions import evaluate
from tests import reference

GRID = np.linspace(-8, 8, 641)
FINE = np.linspace(-12, 12, 24_001)

each = pytest.mark.parametrize("known", ACTIVATIONS, ids=lambda known: known.name)


@each
def test_value_matches_the_reference(known):
    expected = reference.FUNCTIONS[known.name][0](GRID)
    # Some backends hold some functions in float32.
    np.testing.assert_allclose(evaluate(known.value, GRID), expected, 3e-6, 3e-6)


@each
@pytest.mark.parametrize("side", [-1, 1])
def test_ends_are_the_slopes_far_out(known, side):
    value = reference.FUNCTIONS[known.name][0]
    far = side * np.array([500.0, 502.0, 505.0])
    found = np.diff(value(far)) / np.diff(far)
    end = known.ends[side > 0]
    if end is None:
        assert abs(found[1] - found[0]) > 1e-2
    else:
        np.testing.assert_allclose(found, end, atol=1e-4)


@each
def test_lines_are_the_function(known):
    value = reference.FUNCTIONS[known.name][0]
    away = reference.away_from_kinks(FINE[1:-1], known.name, 2e-3)
    straight = np.abs(np.diff(value(FINE), 2))[away].max() < 1e-12
    assert (known.lines is not None) == (straight and known.name != "hard_shrink")
    if known.lines is None:
        assert known.knots == ()
        return
    knots, slopes, first = known.lines
    places = np.array([-20, *knots, 20])
    rises = np.cumsum([0, *np.diff(places) * slopes])
    values = np.interp(FINE, places, first + rises - rises[1])
    np.testing.assert_allclose(values, value(FINE), atol=1e-12)
    assert known.knots == tuple(reference.KINKS.get(known.name, ()))


@each
@pytest.mark.parametrize("side", [-1, 1])
def test_finite_is_where_float32_holds_the_value(known, side):
    end = known.finite[side > 0]
    inside = end * (1 - 1e-6) if np.isfinite(end) else side * 1e15
    with np.errstate(over="ignore"):
        value = reference.FUNCTIONS[known.name][0]
        assert np.isfinite(value(np.float64(inside)).astype("float32"))
        if np.isfinite(end):
            outside = np.float64(end * (1 + 1e-6))
            assert not np.isfinite(value(outside).astype("float32"))


def test_of_a_function_of_ones_own_the_value_is_known():
    def wave(x):
        return ops.sin(3 * x)

    assert elementwise(wave) == FixedFunction(wave, finite=None)


def test_every_activation_of_keras_that_acts_on_each_element_is_known():
    others = {"glu", "log_softmax", "softmax", "sparsemax"}  # act along an axis
    others |= {"threshold"}  # needs more arguments
    others |= {"deserialize", "get", "serialize", *ALIASES}
    of_keras = {name for name, _ in inspect.getmembers(keras.activations, callable)}
    assert set(KERAS_NAMES) == of_keras - others
    assert set(NAMES) == set(reference.FUNCTIONS)
    for name in KERAS_NAMES:
        assert elementwise(getattr(keras.activations, name)).name == name
