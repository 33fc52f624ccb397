"""Spare hidden units: what they add, and that they can learn."""

from statistics import NormalDist

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.initializers.units import spare_units

pytestmark = pytest.mark.backend("tensorflow")

quantile = NormalDist().inv_cdf


def test_knots_are_quantiles_of_the_normal_distribution():
    alpha, alpha_bias, beta = spare_units(3, keras.activations.relu)
    np.testing.assert_array_equal(alpha, [-1, 1, -1])
    knots = [quantile(level) for level in (1 / 2, 1 / 6, 5 / 6)]
    np.testing.assert_allclose(-alpha_bias / alpha, knots)
    np.testing.assert_array_equal(beta, 0)


@pytest.mark.parametrize("g", [keras.activations.relu, ops.log, ops.sqrt, ops.sinh])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_differ_from_each_other_and_from_those_that_exist(g, dtype):
    """Weights that were stored in float32 are rounded."""
    existing = np.array([[1, 0], [-1, -quantile(0.75)], [1, -quantile(0.75)]], dtype)
    for count in (0, 1, 2, 15):
        units = np.stack(spare_units(count, g, *existing.T)[:2], axis=-1)
        assert units.shape == (count, 2)
        units = np.concatenate([existing, units])
        distances = np.abs(units[:, None] - units).max(axis=-1)
        assert distances[~np.eye(len(units), dtype=bool)].min() > 1e-3
