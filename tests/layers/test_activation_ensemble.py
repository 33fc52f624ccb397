"""The running extremes of an ensemble, which only training measures."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import ActivationEnsemble
from tests.layers.family import sample


def make_layer(**arguments):
    return ActivationEnsemble(functions=("relu", "tanh"), **arguments)


def extremes(layer):
    return layer.get_weights()[3:]


@pytest.mark.parametrize(
    "sharing, axes", [("layer", (0, 1, 2)), ("channel", (0, 1)), ("neuron", (0,))]
)
def test_training_moves_the_extremes_towards_those_of_the_batch(sharing, axes):
    layer = make_layer(sharing=sharing, momentum=0.75)
    x = sample((5, 3, 2))
    layer.build(x.shape)
    before = extremes(layer)
    layer(x)
    np.testing.assert_array_equal(extremes(layer), before)
    layer(x, training=True)
    values = np.stack([np.maximum(x, 0), np.tanh(x)], axis=-1)
    for old, new, extreme in zip(
        before, extremes(layer), (np.min, np.max), strict=True
    ):
        expected = 0.75 * old + 0.25 * extreme(values, axis=axes)
        np.testing.assert_allclose(new, expected, rtol=1e-5, atol=1e-6)


def test_fit_moves_them_and_the_optimizer_does_not():
    layer = make_layer(momentum=0.0)
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile("sgd", "mse")
    x = sample((8, 3))
    model.fit(x, x, batch_size=8, verbose=0)
    expected = [np.maximum(x, 0).min(axis=0), np.tanh(x).min(axis=0)]
    np.testing.assert_allclose(extremes(layer)[0], np.stack(expected, -1), atol=1e-6)
    assert len(layer.trainable_variables) == 3


def test_training_leaves_the_extremes_of_a_frozen_layer():
    layer = make_layer()
    layer.trainable = False
    x = sample((5, 3))
    layer.build(x.shape)
    before = extremes(layer)
    layer(x, training=True)
    np.testing.assert_array_equal(extremes(layer), before)


def test_the_batch_whose_extremes_it_has_is_taken_to_0_to_1():
    layer = make_layer(momentum=0.0)
    x = sample((50, 3))
    y = keras.ops.convert_to_numpy(layer(x, training=True))
    np.testing.assert_allclose(y.min(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(y.max(axis=0), 1, atol=1e-5)
