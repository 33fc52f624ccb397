"""Spare hidden units: what they add, and that they can learn."""

from statistics import NormalDist

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.initializers.units import spare_units

pytestmark = pytest.mark.backend("tensorflow")

RELU = keras.activations.relu
QUARTILE = NormalDist().inv_cdf(0.75)


def test_knots_are_quantiles_of_the_normal_distribution():
    alpha, alpha_bias, beta = spare_units(3, RELU)
    np.testing.assert_array_equal(alpha, [-1, 1, -1])
    knots = [NormalDist().inv_cdf(level) for level in (1 / 2, 1 / 6, 5 / 6)]
    np.testing.assert_allclose(-alpha_bias / alpha, knots)
    np.testing.assert_array_equal(beta, 0)


@pytest.mark.parametrize("count", [0, 1, 2, 15])
@pytest.mark.parametrize(
    "g", ["relu", "exponential", ops.log, ops.sqrt, ops.sinh, "gelu"]
)
def test_any_number_of_units_that_all_differ(count, g):
    g = getattr(keras.activations, g) if isinstance(g, str) else g
    units = np.array(spare_units(count, g, [1.0], [0.0]))
    assert units.shape == (3, count)
    assert len({(1.0, 0.0), *zip(*units[:2], strict=True)}) == count + 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_unit_equals_one_that_exists(dtype):
    """Weights that were stored in float32 are rounded."""
    alpha = np.array([[1, -1, 1]], dtype)
    alpha_bias = np.array([[0, -QUARTILE, -QUARTILE]], dtype)
    units = np.stack(spare_units(2, RELU, alpha, alpha_bias)[:2], axis=-1)
    existing = np.stack([alpha.ravel(), alpha_bias.ravel()], axis=-1)
    distances = np.abs(units[:, None] - existing).max(axis=-1)
    assert distances.min() > 0.1
