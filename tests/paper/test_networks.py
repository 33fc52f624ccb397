"""The paper's convolutional networks."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import MLPConv, VAFActivation
from keras_vaf.paper import cnet

SHAPE = (8, 8, 2)
SMALL = {"input_shape": SHAPE, "filters": (4, 3), "outputs": 5}


def blocks():
    """Return a function that returns the blocks of a network in network."""
    filters = iter(SMALL["filters"])
    return lambda: MLPConv((next(filters),) * 3, 5, padding="same")


def windows(x, size):
    """Return the square windows of images: `(rows, height, width, channels, i, j)`."""
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))


def convolved(x, kernel, bias):
    """Return a convolution with padding "same" in float64."""
    edge = len(kernel) // 2
    x = np.pad(x, [(0, 0), (edge, edge), (edge, edge), (0, 0)])
    return np.einsum("bhwcij,ijcf->bhwf", windows(x, len(kernel)), kernel) + bias


def expected_outputs(model, x, blocks):
    """Return what a network of ReLUs computes, from its weights alone."""
    weights = [weight.astype("float64") for weight in model.get_weights()]
    x = x.astype("float64")
    for convolutions in blocks:
        for _ in range(convolutions):
            kernel, bias = weights.pop(0), weights.pop(0)
            x = np.maximum(convolved(x, kernel, bias), 0)
        x = windows(x, 3)[:, ::2, ::2].max(axis=(-2, -1))
    kernel, bias = weights
    return x.reshape(len(x), -1) @ kernel + bias


def images(rows=3):
    return np.random.default_rng(0).normal(size=(rows, *SHAPE)).astype("float32")


def kernels(model):
    """Return the kernels of all convolutions and of the output layer."""
    return [weight for weight in model.get_weights() if weight.ndim > 1]


@pytest.mark.parametrize("depth", [1, 3])
def test_computes_what_its_weights_say(depth):
    activation = keras.layers.ReLU if depth == 1 else blocks()
    model = cnet(**SMALL, activation=activation, seed=1)
    for variable in model.trainable_variables:
        if variable.ndim == 1:  # biases start at 0
            variable.assign(np.linspace(-0.1, 0.1, variable.shape[0]))

    outputs = keras.ops.convert_to_numpy(model(images(), training=False))

    expected = expected_outputs(model, images(), [depth] * 2)
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-5)


def test_kernels_are_those_of_the_seed_whatever_the_activation():
    made = ((keras.layers.ReLU, 1), (VAFActivation, 1), (VAFActivation, 2))
    models = [cnet(**SMALL, activation=each, seed=seed) for each, seed in made]

    for first, second, third in zip(*map(kernels, models), strict=True):
        np.testing.assert_array_equal(first, second)
        assert np.all(first != third)


def test_a_network_in_network_has_different_kernels_in_its_convolutions():
    model = cnet(**SMALL, activation=blocks(), seed=1)
    _, second, third = (each.kernel for each in model.layers[0].convolutions)
    assert keras.ops.all(second != third)


def test_dropout_is_drawn_from_the_seed():
    def outputs(seed):
        model = cnet(**SMALL, activation=keras.layers.ReLU, seed=seed)
        model.set_weights([np.ones_like(weight) for weight in model.get_weights()])
        return keras.ops.convert_to_numpy(model(images(), training=True))

    np.testing.assert_array_equal(outputs(3), outputs(3))
    assert np.any(outputs(3) != outputs(4))
