"""What is known of each fixed function g: name, slope, homogeneity."""

import inspect

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.ops import NAMES
from keras_vaf.ops.elementwise import ALIASES, elementwise
from tests import reference
from tests.harness import double_precision, to_arrays

GRID = np.linspace(-8, 8, 641)


def slope(g, x):
    known = elementwise(getattr(keras.activations, g) if isinstance(g, str) else g)
    h = ops.convert_to_tensor(x, dtype=x.dtype.name)
    return to_arrays([known.slope(h, known.value(h))])[0]


@pytest.mark.parametrize("g", NAMES)
def test_slope_matches_the_reference(g):
    x = GRID[reference.away_from_kinks(GRID, g, 1e-9)]
    with double_precision():
        np.testing.assert_allclose(
            slope(g, x), reference.FUNCTIONS[g][1](x), 1e-6, 3e-6
        )


@pytest.mark.parametrize("g", reference.KINKS)
def test_slope_at_a_kink_is_one_of_the_two_beside_it(g):
    kinks = np.array(reference.KINKS[g], "float64")
    beside = [reference.FUNCTIONS[g][1](kinks + side) for side in (-1e-9, 1e-9)]
    with double_precision():
        found = slope(g, kinks)
    assert np.all(np.any(np.isclose(found, beside, 1e-6, 1e-6), axis=0))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("g", NAMES)
def test_slope_keeps_the_dtype_and_is_finite_far_out(g, dtype):
    found = slope(g, np.array([-200, -20, 0, 5, 10], dtype))
    assert found.dtype == dtype
    assert np.all(np.isfinite(found))


@pytest.mark.parametrize("g", NAMES)
def test_homogeneous_means_that_value_is_slope_times_argument(g):
    value, derivative = reference.FUNCTIONS[g]
    lawful = np.allclose(value(GRID), GRID * derivative(GRID))
    assert elementwise(getattr(keras.activations, g)).homogeneous == lawful


def test_a_function_of_ones_own_gets_its_slope_from_the_backend():
    def wave(x):
        return ops.sin(3 * x)

    assert not elementwise(wave).homogeneous
    x = np.float32([-1, 0, 2])
    np.testing.assert_allclose(slope(wave, x), 3 * np.cos(3 * x), 1e-5, 1e-5)


def test_every_activation_of_keras_that_acts_on_each_element_is_known():
    others = {"glu", "log_softmax", "softmax", "sparsemax"}  # act along an axis
    others |= {"threshold"}  # needs arguments of its own
    others |= {"deserialize", "get", "serialize", *ALIASES}
    of_keras = {name for name, _ in inspect.getmembers(keras.activations, callable)}
    assert set(NAMES) == of_keras - others
    assert set(NAMES) == set(reference.FUNCTIONS)
