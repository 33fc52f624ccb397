"""The paper's fully connected networks."""

import keras
import numpy as np

from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp


def test_computes_what_its_layers_say():
    model = mlp(4, (6, 5), 3, activation=keras.layers.ReLU, output_activation="softmax")
    x = np.random.default_rng(0).normal(size=(7, 4)).astype("float32")

    hidden = x
    for layer in model.layers[:-1:2]:
        kernel, bias = layer.get_weights()
        hidden = np.maximum(hidden @ kernel + bias, 0)
    kernel, bias = model.layers[-1].get_weights()
    exponentials = np.exp(hidden @ kernel + bias)
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)

    outputs = keras.ops.convert_to_numpy(model(x))
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-6)


def test_starts_at_the_same_kernels_whatever_the_activation():
    def kernels(activation, seed):
        model = mlp(4, (6, 5), 3, activation=activation, seed=seed)
        return [layer.get_weights()[0] for layer in model.layers[::2]]

    relu, vaf = kernels(keras.layers.ReLU, 1), kernels(VAFActivation, 1)
    other = kernels(keras.layers.ReLU, 2)

    for first, second, third in zip(relu, vaf, other, strict=True):
        np.testing.assert_array_equal(first, second)
        assert np.all(first != third)
    # Layers of equal shape start differently, and each has its own activation.
    model = mlp(5, (5, 5), 5, activation=VAFActivation)
    first, second, third = (layer.get_weights()[0] for layer in model.layers[::2])
    assert np.all(first != second) and np.all(second != third)
    assert model.layers[1] is not model.layers[3]
