"""A rational function has no poles, and starts near any function."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import Rational
from keras_vaf.ops.functions import evaluate

X = np.linspace(-5, 5, 2001)


@pytest.mark.parametrize(
    "name, error",
    [
        ("relu", 0.0225),
        ("leaky_relu", 0.018),
        ("gelu", 0.0025),
        ("elu", 0.0005),
        *((name, 0.0001) for name in ("silu", "softplus", "tanh", "sigmoid")),
    ],
)
def test_errors_of_its_start_are_those_that_it_documents(name, error):
    function = getattr(keras.activations, name)
    start = Rational(initialization=name).function(X)
    largest = np.abs(start - evaluate(function, X)).max()
    assert 0.7 * error < largest <= error or largest <= error == 0.0001


@pytest.mark.parametrize("degrees", [(1, 1), (2, 1), (3, 2), (7, 6)])
def test_polynomials_are_met_and_can_change(degrees):
    """The denominator is not 1, at which it would have no gradient."""
    layer = Rational(*degrees, initialization="linear")
    assert np.any(layer.get_weights()[1] != 0)
    if degrees[0] > degrees[1]:
        np.testing.assert_allclose(layer.function(X), X, atol=1e-5)
    constant = Rational(*degrees, initialization=lambda x: 0 * x)
    np.testing.assert_allclose(constant.function(X), 0, atol=1e-7)
