"""VAFs that never fall."""

import keras
import numpy as np
import pytest

from keras_vaf.constraints import Monotone
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import KAF, VAFActivation
from tests.harness import check_serialization
from tests.layers.family import sample

GRID = np.linspace(-5, 5, 201)


def model_of(layer):
    """A model that is pulled down to the right: y = -3 x."""
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(keras.optimizers.SGD(0.1, clipvalue=1.0), "mse")
    x = sample((64, 3))
    return model, x, -3 * x


def falls(layer):
    return np.diff(layer.function(GRID), axis=0).min() < -1e-6


@pytest.mark.parametrize("g", ["relu", "tanh", "leaky_relu"])
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_never_falls_although_the_data_pull(g, sharing):
    start = RandomStart(seed=0)
    free = VAFActivation(k=4, g=g, sharing=sharing, initialization=start)
    held = VAFActivation(
        k=4, g=g, sharing=sharing, initialization=start, beta_constraint=Monotone()
    )
    for layer in (free, held):
        model, x, y = model_of(layer)
        for _ in range(20):
            model.train_on_batch(x, y)
            assert layer is free or not falls(layer)
    assert falls(free)


def test_leaves_a_rising_start_as_it_is():
    layer = VAFActivation(k=3, initialization="leaky_relu", beta_constraint=Monotone())
    _, _, beta, _ = layer.get_weights()
    constrained = keras.ops.convert_to_numpy(layer.beta.constraint(layer.beta))
    np.testing.assert_array_equal(constrained, beta)


def test_units_come_back():
    layer = VAFActivation(k=3, initialization="relu", beta_constraint=Monotone())
    model, x, y = model_of(layer)
    for _ in range(60):
        model.train_on_batch(x, y)
    assert np.ptp(layer.function(GRID)) < 0.02  # as flat as it may be
    for _ in range(60):
        model.train_on_batch(x, -y)
    assert layer.function(2.0) > 3


def test_is_saved_with_the_layer(tmp_path):
    check_serialization(Monotone())
    model, x, y = model_of(
        VAFActivation(beta_constraint=Monotone(), initialization="random")
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    loaded.train_on_batch(x, y)
    assert not falls(loaded.layers[0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: VAFActivation(alpha_constraint=Monotone()),
        lambda: VAFActivation(g="gelu", beta_constraint=Monotone()),
        lambda: KAF(sharing="layer", alpha_constraint=Monotone()),
    ],
)
def test_is_refused_where_it_promises_nothing(make):
    with pytest.raises(ValueError, match="`beta_constraint` of a VAFActivation"):
        make()
