"""Random starts are Glorot uniform, or keep the scale of the signal on request."""

import hashlib

import keras
import numpy as np
import pytest

from keras_vaf import initializers
from keras_vaf.initializers import RandomStart
from keras_vaf.ops import NAMES
from keras_vaf.ops.functions import get_function
from tests import reference

RELU = keras.activations.relu


def digest_of(values):
    return hashlib.sha256(np.round(np.stack(values[:3]), 6).tobytes()).hexdigest()


@pytest.mark.parametrize("k", [1, 3, 15])
@pytest.mark.parametrize("g", ["relu", "tanh", "sigmoid", "exponential"])
def test_a_plain_start_is_glorot_uniform_with_biases_of_zero(k, g):
    alpha, alpha_bias, beta, beta_bias = RandomStart(seed=0)(
        (4000,), k, get_function(g, "g")
    )
    limit = np.sqrt(6 / (1 + k))
    for weights in (alpha, beta):
        counts, _ = np.histogram(weights / limit, bins=8, range=(-1, 1))
        assert counts.sum() == weights.size
        expected = weights.size / 8
        assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))
    assert not alpha_bias.any()
    assert not beta_bias.any()


def test_starts_are_the_same_on_every_backend_and_of_older_configurations():
    """Networks that were saved before `rescale` then start again as they did."""
    old = {"class_name": "keras_vaf>RandomStart", "config": {"seed": 7}}
    old = initializers.get(old)
    assert old.get_config() == {"seed": 7, "rescale": True}
    for start, digest in (
        (old, "21fccb8e8cdf"),
        (RandomStart(seed=7, rescale=True), "21fccb8e8cdf"),
        (RandomStart(seed=7), "5064035fbeb3"),
    ):
        assert digest_of(start((2,), 3, RELU)).startswith(digest)


@pytest.mark.parametrize("k", [1, 3, 15])
@pytest.mark.parametrize("g", ["relu", "tanh", "sigmoid"])
def test_rescaled_functions_have_unit_mean_square_and_pass_the_origin(g, k):
    alpha, alpha_bias, beta, beta_bias = RandomStart(seed=0, rescale=True)(
        (20,), k, getattr(keras.activations, g)
    )
    limit = np.sqrt(6 / (1 + k))
    assert np.abs(alpha).max() <= limit
    assert np.abs(alpha).max() > 0.5 * limit
    assert not alpha_bias.any()
    z = np.linspace(-8, 8, 4001)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    for function in zip(alpha, alpha_bias, beta, beta_bias, strict=True):
        f = reference.vaf(z, *function, g)
        assert np.sum(density * f**2) == pytest.approx(1, rel=0.02)
        assert f[2000] == pytest.approx(0, abs=1e-6)


def test_rescaled_units_that_nearly_cancel_stay_small():
    """No hidden unit has more than ten times the spread that f should have."""
    alpha, _, beta, _ = RandomStart(seed=0, rescale=True)((20_000,), 3, RELU)
    spread_of_relu = np.abs(alpha * beta) / np.sqrt(2)
    assert spread_of_relu.max() < 10 * (1 + 1e-6)
    assert spread_of_relu.max() > 8  # some do nearly cancel


@pytest.mark.backend("torch")  # starts are the same everywhere, and it compiles nothing
@pytest.mark.parametrize("k", [1, 3, 5, 15])
@pytest.mark.parametrize("g", sorted({*NAMES} - {"square", "relu_squared"}))
def test_ten_layers_neither_explode_nor_vanish(g, k):
    """Spread over samples after ten layers, in the median of seeds, is of order 1."""
    spreads = []
    for seed in range(5):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(64, 64))
        for depth in range(10):
            kernel = draw.normal(size=(64, 64)) / 8
            start = RandomStart(100 * seed + depth, rescale=True)
            x = reference.vaf(x @ kernel, *start((), k, get_function(g, "g")), g)
        spreads.append(np.mean(x.std(axis=0)))
    assert 1e-2 < np.median(spreads) < 1e2
