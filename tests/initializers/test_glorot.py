"""Glorot weights: their law, and that every backend draws the same ones."""

import math

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_vaf.initializers.glorot import PortableGlorotUniform

SHAPES = {
    "dense": ((13, 100), 113),
    "wide": ((1, 3), 4),
    "conv": ((5, 5, 3, 64), 25 * 67),
    "vector": ((7,), 14),
    "scalar": ((), 2),
}


def draw(seed, shape, dtype="float32"):
    return keras.ops.convert_to_numpy(PortableGlorotUniform(seed)(shape, dtype))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(SHAPES)))
def test_weights_are_within_the_limit_and_reach_out_to_it(seed, name):
    shape, fans = SHAPES[name]
    weights, limit = draw(seed, shape), math.sqrt(6 / fans)
    assert weights.shape == shape
    assert np.all(np.abs(weights) <= limit * (1 + 1e-6))
    assert weights.size < 100 or np.abs(weights).max() > 0.9 * limit


def test_weights_are_those_of_numpy_on_every_backend():
    expected = np.random.default_rng(5).uniform(-1, 1, (2, 4)).astype("float32")
    np.testing.assert_array_equal(draw(5, (2, 4)), expected)


@pytest.mark.parametrize("dtype", [None, "float16", "bfloat16"])
def test_dtype(dtype):
    weights = PortableGlorotUniform(0)((2, 3), dtype)
    expected = dtype or keras.config.floatx()
    assert keras.backend.standardize_dtype(weights.dtype) == expected
