"""The inputs of each trainable activation of a model, wherever it is."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.activation_inputs import activation_inputs

X = np.random.default_rng(0).normal(size=(300, 3)).astype("float32")


def test_in_a_nested_model_and_in_another_layer():
    hidden = layers.Dense(
        4, activation=VAFActivation(name="vaf", initialization="random"), name="hidden"
    )
    inner = keras.Sequential(
        [hidden, VAFActivation(name="last", initialization="random")], name="inner"
    )
    model = keras.Sequential([keras.Input((3,)), inner, layers.Dense(1)])
    found = activation_inputs(model, X)
    assert list(found) == ["inner/hidden/vaf", "inner/last"]
    before = X @ ops.convert_to_numpy(hidden.kernel)
    np.testing.assert_allclose(
        np.sort(found["inner/hidden/vaf"][:, 0]), np.sort(before.ravel()), atol=1e-5
    )
    assert "call" not in vars(hidden.activation)


def test_of_a_layer_in_two_places():
    left, right = keras.Input((3,), name="left"), keras.Input((3,), name="right")
    shared = VAFActivation(name="shared")
    model = keras.Model([left, right], shared(left) + shared(right))
    for data in ([X, 2 * X], (X, 2 * X), {"left": X, "right": 2 * X}):
        values = activation_inputs(model, data)["shared"]
        expected = np.concatenate([X.ravel(), 2 * X.ravel()])
        np.testing.assert_allclose(np.sort(values[:, 0]), np.sort(expected))


def test_in_loops_over_time():
    inner = VAFActivation(name="vaf", initialization="random")
    dense = layers.Dense(2, activation=VAFActivation(initialization="random"))
    gru = layers.GRU(4, activation=inner, return_sequences=True)
    stack = [keras.Input((5, 3)), gru, layers.TimeDistributed(dense)]
    found = activation_inputs(keras.Sequential(stack), X.reshape(-1, 5, 3))
    assert len(found) == 2
    assert all(values.size >= 60 * 5 * 2 for values in found.values())


@pytest.mark.parametrize("sharing", ["channel", "neuron"])
def test_each_function_has_a_column(sharing):
    layer = VAFActivation(sharing=sharing, name="vaf", data_format="channels_first")
    model = keras.Sequential([keras.Input((2, 4, 5)), layer])
    x = np.random.default_rng(1).normal(size=(8, 2, 4, 5)).astype("float32")
    found = activation_inputs(model, x)["vaf"]
    if sharing == "channel":
        expected = x.transpose(0, 2, 3, 1).reshape(-1, 2)
    else:
        expected = x.reshape(8, 40)
    np.testing.assert_array_equal(found, expected)


def test_of_many_values_some_are_kept():
    model = keras.Sequential([keras.Input((40, 40)), VAFActivation(sharing="neuron")])
    (values,) = activation_inputs(model, np.ones((600, 40, 40), "float32")).values()
    assert values.shape[1] == 64
    assert 25_000 < values.size <= 50_000


def test_of_many_channels_each_is_sampled_as_often():
    model = keras.Sequential([keras.Input((64,)), VAFActivation(name="vaf")])
    found = activation_inputs(model, np.tile(np.arange(64.0), (10_500, 1)))["vaf"]
    _, counts = np.unique(found, return_counts=True)
    assert len(counts) == 64
    assert counts.max() < 1.1 * counts.min()
