"""The contract of every start: shapes, finite values, configuration, spare units."""

import inspect
from statistics import NormalDist

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import initializers
from keras_vaf.initializers import (
    FunctionStart,
    GStart,
    PiecewiseLinearStart,
    RandomStart,
    Start,
)
from keras_vaf.initializers.units import spare_units

STARTS: tuple[Start, ...] = (
    GStart(),
    RandomStart(seed=0),
    FunctionStart("tanh"),
    PiecewiseLinearStart(knots=(0,), slopes=(0.3, 1)),
)
each = pytest.mark.parametrize("start", STARTS, ids=lambda start: type(start).__name__)


@each
@pytest.mark.parametrize("unshared", [(), (4,), (2, 3)])
@pytest.mark.parametrize("k, g", [(2, "relu"), (5, "relu"), (3, "tanh")])
def test_returns_four_finite_float64_arrays(start, unshared, k, g):
    values = start(unshared, k, getattr(keras.activations, g))
    shapes = [(*unshared, k)] * 3 + [unshared]
    assert [value.shape for value in values] == shapes
    assert {value.dtype for value in values} == {np.dtype("float64")}
    assert all(np.all(np.isfinite(value)) for value in values)


@each
def test_is_restored_from_its_configuration(start):
    config = keras.saving.serialize_keras_object(start)
    again = keras.saving.deserialize_keras_object(config)
    assert type(again) is type(start)
    assert again.get_config() == start.get_config()
    assert initializers.get(config).get_config() == start.get_config()


def test_each_start_is_tried():
    offered = map(initializers.__dict__.get, initializers.__all__)
    found = {each for each in offered if inspect.isclass(each)}
    found = {each for each in found if issubclass(each, Start)} - {Start}
    missing = found ^ {*map(type, STARTS)}
    assert not missing, f"STARTS in tests/initializers/test_contract.py: {missing}"


quantile = NormalDist().inv_cdf


@pytest.mark.backend("tensorflow")
def test_knots_of_spare_units_are_quantiles_of_the_normal_distribution():
    alpha, alpha_bias, beta = spare_units(3, keras.activations.relu)
    np.testing.assert_array_equal(alpha, [-1, 1, -1])
    knots = [quantile(level) for level in (1 / 2, 1 / 6, 5 / 6)]
    np.testing.assert_allclose(-alpha_bias / alpha, knots)
    np.testing.assert_array_equal(beta, 0)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("g", [keras.activations.relu, ops.log, ops.sqrt, ops.sinh])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_spare_units_differ_from_each_other_and_from_those_that_exist(g, dtype):
    """Weights that were stored in float32 are rounded."""
    existing = np.array([[1, 0], [-1, -quantile(0.75)], [1, -quantile(0.75)]], dtype)
    for count in (0, 1, 2, 15):
        units = np.stack(spare_units(count, g, *existing.T)[:2], axis=-1)
        assert units.shape == (count, 2)
        units = np.concatenate([existing, units])
        distances = np.abs(units[:, None] - units).max(axis=-1)
        assert distances[~np.eye(len(units), dtype=bool)].min() > 1e-3
