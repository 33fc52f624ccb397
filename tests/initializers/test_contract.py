"""The contract of every start: shapes, finite values, configuration."""

import inspect

import keras
import numpy as np
import pytest

from keras_vaf import initializers
from keras_vaf.initializers import (
    FunctionStart,
    GStart,
    PiecewiseLinearStart,
    RandomStart,
    Start,
)

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
