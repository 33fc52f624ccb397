"""A learned function is where another VAF starts."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import CurveStart, RandomStart
from keras_vaf.layers import VAFActivation

X = np.linspace(-5, 5, 101)
BUMP = CurveStart(
    "relu",
    alpha=(1, 2, 1, 0, 3),
    alpha_bias=(1, 0, -1, 5, 1),
    beta=(1, -1, 1, 0.1, 0),
    beta_bias=0.5,
)


def bump(x):
    return np.maximum(0, 1 - np.abs(x)) + 1.0


@pytest.mark.parametrize("k", [3, 4, 7])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_starts_at_the_curve(k, sharing):
    layer = VAFActivation(k=k, sharing=sharing, initialization=BUMP)
    layer.build((None, 2))
    curves = layer.function(X).reshape(len(X), -1)
    np.testing.assert_allclose(curves, bump(X)[:, None] + 0 * curves, atol=1e-6)
    assert BUMP.error(k).largest < 1e-12


def test_its_spare_units_differ_and_can_learn():
    alpha, alpha_bias, beta, _ = BUMP.units(8, keras.activations.relu)
    assert np.all(beta[3:] == 0) and np.all(np.abs(alpha) > 0)
    assert len(set(zip(alpha, alpha_bias, strict=True))) == 8


def test_another_g_or_too_few_units_are_fitted():
    assert 0.01 < BUMP.error(2).largest < 2
    assert 0.01 < BUMP.error(6, "tanh").largest < 0.5
    assert BUMP.error(12, "tanh") < BUMP.error(3, "tanh")


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": (1, 2)},
        {"beta": (1, np.nan, 1, 0, 0)},
        {"beta_bias": np.inf},
        {"alpha": (), "alpha_bias": (), "beta": ()},
        {"g": "softmax"},
    ],
    ids=str,
)
def test_refuses_what_is_no_curve(changes):
    with pytest.raises(ValueError, match="Received"):
        CurveStart(**{**BUMP.get_config(), **changes})


def test_takes_any_g():
    alpha, alpha_bias, beta, beta_bias = RandomStart(seed=0)(
        (), 4, keras.activations.tanh
    )
    start = CurveStart("tanh", alpha, alpha_bias, beta, beta_bias)
    expected = np.tanh(np.multiply.outer(X, alpha) + alpha_bias) @ beta + beta_bias
    np.testing.assert_allclose(start.target(X), expected, rtol=1e-6)
    assert start.error(5, "tanh").largest < 1e-6
