"""The bound of a layer is not above what the layer reaches, and not below it."""

import keras
import numpy as np
import pytest

from keras_vaf.constraints import SlopeBound
from keras_vaf.layers import VAFActivation
from keras_vaf.models import lipschitz_certificate

layers = keras.layers


def model_of(layer, shape, *weights):
    """Return a model of one layer, with weights that are given in their order."""
    model = keras.Sequential([keras.Input(shape), layer])
    if weights:
        layer.set_weights([np.asarray(each, "float32") for each in weights])
    return model


def normalization(gamma, variance, **arguments):
    """Return a normalization layer of two channels, and its weights."""
    layer = layers.BatchNormalization(epsilon=0.5, **arguments)
    factors = [gamma, [0.0, 0.0]] if layer.scale else [[0.0, 0.0]]
    return layer, (2,), *factors, [3.0, 4.0], variance


REACHED = {
    "max pooling": ((layers.MaxPooling2D(3, 1), (5, 5, 1)), 3.0),  # 9 windows
    "max pooling, two axes": ((layers.MaxPooling2D((3, 2), 2), (7, 7, 1)), 2**0.5),
    "leaky relu": ((layers.LeakyReLU(negative_slope=2.0), (3,)), 2.0),
    "relu with a slope": ((layers.ReLU(negative_slope=3.0), (3,)), 3.0),
    "prelu": ((layers.PReLU(), (2,), [0.5, -4.0]), 4.0),
    "flat prelu": ((layers.PReLU(), (2,), [0.0, 0.5]), 1.0),
    "normalization": (normalization([1.0, -3.0], [1.5, 0.25]), 3 / 0.75**0.5),
    "without gamma": (normalization(None, [3.5, 1.5], scale=False), 0.5**0.5),
    "rescaling": ((layers.Rescaling(-2.0), (3,)), 2.0),
    "activation inside": (
        (layers.Dense(1, activation=layers.LeakyReLU(2.0)), (1,), [[3.0]], [0.0]),
        6.0,
    ),
    "activation": ((layers.Activation("hard_tanh"), (3,)), 1.0),
}


def steps(shape):
    """Return steps up and down from 0, of each element alone."""
    units = np.eye(int(np.prod(shape)), dtype="float32").reshape(-1, *shape)
    return np.concatenate([units, -units])


@pytest.mark.parametrize("name", REACHED)
def test_the_bound_is_reached(name):
    (layer, shape, *weights), expected = REACHED[name]
    model = model_of(layer, shape, *weights)
    x = steps(shape)
    rise = model.predict(x, verbose=0) - model.predict(0 * x, verbose=0)
    reached = np.linalg.norm(rise.reshape(len(x), -1), axis=1).max()
    assert np.isclose(reached, expected, rtol=1e-5)
    assert np.isclose(lipschitz_certificate(model).bound, expected, rtol=1e-6)


def test_a_depthwise_convolution_is_bounded_per_channel():
    kernel = np.zeros((1, 1, 2, 1))
    kernel[..., 0, 0], kernel[..., 1, 0] = 3.0, -4.0
    layer = layers.DepthwiseConv2D(1, use_bias=False)
    model = model_of(layer, (3, 3, 2), kernel)
    assert np.isclose(lipschitz_certificate(model).bound, 4.0, rtol=1e-9)


def test_stored_weights_that_are_too_steep_count_as_the_layer_applies_them():
    layer = VAFActivation(k=2, function_constraint=SlopeBound(0.5))
    model = keras.Sequential([keras.Input((3,)), layer])
    layer.beta.assign(9 * np.ones(2))
    assert lipschitz_certificate(model).bound <= 0.5 * (1 + 1e-6)
