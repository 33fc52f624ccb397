"""The reference is itself held to finite differences and to Keras."""

import keras
import numpy as np
import pytest

from tests import reference

pytestmark = pytest.mark.backend("tensorflow")

X = np.linspace(-8, 8, 2001) + 1e-4


@pytest.mark.parametrize("g", reference.FUNCTIONS)
def test_values_are_those_of_keras(g):
    scope = keras.activations if hasattr(keras.activations, g) else keras.ops
    function = getattr(scope, g, lambda x: keras.ops.square(keras.ops.relu(x)))
    assert hasattr(scope, g) or g == "relu_squared"
    computed = function(keras.ops.convert_to_tensor(X))
    np.testing.assert_allclose(computed, reference.FUNCTIONS[g][0](X), 1e-7, 1e-8)


@pytest.mark.parametrize("g", reference.FUNCTIONS)
def test_slopes_are_finite_differences(g):
    value, slope = reference.FUNCTIONS[g]
    x = X[reference.away_from_kinks(X, g, 1e-3)]
    difference = (value(x + 1e-5) - value(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(slope(x), difference, 1e-6, 1e-7)


def test_equation_is_that_of_the_paper():
    alpha, alpha_bias, beta = ([1.0, -2.0], [0.5, 0.0], [3.0, 1.0])
    x, beta_bias = 0.7, -1.0
    by_hand = 3 * np.tanh(0.7 + 0.5) + np.tanh(-1.4) - 1
    computed = reference.vaf(
        *(np.array(a) for a in (x, alpha, alpha_bias, beta, beta_bias)), "tanh"
    )
    assert computed == pytest.approx(by_hand, 1e-15)
