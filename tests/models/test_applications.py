"""Networks of keras.applications, with random weights, converted and frozen."""

import keras
import numpy as np
import pytest

from keras_vaf.models import convert, freeze, report
from tests.models.networks import inputs_of, outputs_of

# The surgery is the same on every backend, and JAX compiles each operation on its own.
pytestmark = pytest.mark.backend("tensorflow", "torch")

MADE_OF_LINES = {"MobileNet": {"alpha": 0.25}, "MobileNetV2": {"alpha": 0.35}}
SMOOTH = {"MobileNetV3Small": {"alpha": 0.75}}
CLASSES = 7


def network(name, arguments):
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    shape = (32, 32, 3)
    make = getattr(keras.applications, name)
    return make(weights=None, input_shape=shape, classes=CLASSES, **arguments)


def assert_near(model, other, tolerance):
    x = inputs_of(model, samples=2)
    (expected,), (y,) = outputs_of(model, x), outputs_of(other, x)
    assert np.abs(y - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("name", MADE_OF_LINES)
def test_straight_lines_are_exact(name):
    model = network(name, MADE_OF_LINES[name])
    found = convert(model)
    assert_near(model, found, 1e-5)
    assert len(report(found).replaced) > 20
    assert {kept.kept for kept in report(found).kept} == {
        "it shapes an output of the model"
    }
    assert found.count_params() - model.count_params() == report(found).parameters


@pytest.mark.parametrize("name", SMOOTH)
def test_others_are_exact_too(name):
    model = network(name, SMOOTH[name])
    found = convert(model)
    assert_near(model, found, 1e-5)
    assert report(found).error < 1e-6
    frozen = freeze(found)
    assert report(frozen).deviation < 1e-4
    assert "keras_vaf" not in frozen.to_json()
