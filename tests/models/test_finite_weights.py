"""Models whose training diverged are refused with the names of their weights."""

import functools

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.models import freeze, report, simplify

pytestmark = pytest.mark.backend("tensorflow")

CHANGES = [freeze, functools.partial(simplify, tolerance=0.1)]


def network(**arguments):
    activation = VAFActivation(name="act", **arguments)
    dense = keras.layers.Dense(3, name="dense")
    return keras.Sequential([keras.Input((4,)), dense, activation])


@pytest.mark.parametrize("change", CHANGES, ids=["freeze", "simplify"])
@pytest.mark.parametrize("place, value", [("dense", np.nan), ("act", np.inf)])
def test_the_weight_is_named(change, place, value):
    model = network()
    weight = model.get_layer(place).weights[0]
    weight.assign(np.full(weight.shape, value))

    with pytest.raises(ValueError, match=f"NaN or infinite values in .*{place}"):
        change(model)


def test_inputs_that_are_not_finite_are_named():
    data = np.full((3, 4), np.nan, "float32")

    with pytest.raises(ValueError, match=r"NaN or infinite inputs of act"):
        simplify(network(), 0.1, data)


def test_a_hidden_unit_that_overflows_is_kept():
    model = network(g="exponential")
    model.get_layer("act").alpha.assign([1e4, 1.0, 1.0])

    (kept,) = report(simplify(model, 0.1)).kept

    assert "not finite" in kept.kept
