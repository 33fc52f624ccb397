"""Networks of keras.applications, with random weights, converted and frozen."""

import keras
import pytest

from keras_vaf.models import convert, freeze, report
from tests.models.networks import assert_equal_outputs

# The surgery is the same on every backend, and JAX compiles each operation on its own.
pytestmark = [
    pytest.mark.backend("tensorflow", "torch"),
    pytest.mark.nightly("tensorflow"),  # it compiles each network
]

NETWORKS = {
    "MobileNet": {"alpha": 0.25},
    "MobileNetV2": {"alpha": 0.35},
    "MobileNetV3Small": {"alpha": 0.75},
}
KEPT = {"it shapes an output of the model", "it is a gate that multiplies other values"}
CLASSES = 7


def network(name, arguments):
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    shape = (32, 32, 3)
    make = getattr(keras.applications, name)
    return make(weights=None, input_shape=shape, classes=CLASSES, **arguments)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_converted_exactly_and_frozen(name):
    model = network(name, NETWORKS[name])
    found = convert(model)
    changes = report(found)
    assert_equal_outputs(model, found, tolerance=1e-6)
    assert len(changes.replaced) > 20 and changes.error < 1e-6
    assert {kept.kept for kept in changes.kept} <= KEPT
    assert found.count_params() - model.count_params() == changes.parameters
    if name == "MobileNetV3Small":
        frozen = freeze(found)
        assert report(frozen).deviation < 1e-4
        assert "keras_vaf" not in frozen.to_json()
