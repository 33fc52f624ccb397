"""Functions of older papers, as `docs/records/differences.md` writes them."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import VAFActivation

X = np.array([-2.5, -1.0, 0.0, 0.3, 0.999, 1.0, 1.001, 4.0], "float32")


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_a_vaf_with_a_trained_amplitude_alone(sharing):
    vaf = VAFActivation(k=1, g="tanh", sharing=sharing)
    vaf.build((None, 3))
    for weight in (vaf.alpha, vaf.alpha_bias, vaf.beta_bias):
        weight.trainable = False
    model = keras.Sequential([keras.Input((3,)), vaf])
    model.compile(keras.optimizers.Adam(0.1), "mse")
    x = np.random.default_rng(0).normal(size=(64, 3))
    model.fit(x, 3 * np.tanh(x), epochs=20, verbose=0)
    amplitude = ops.convert_to_numpy(vaf.beta)[..., 0]
    assert np.all(amplitude > 1.5)
    expected = np.multiply.outer(np.tanh(X.astype("float64")), amplitude)
    np.testing.assert_allclose(vaf.function(X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_identity_above_a_threshold(threshold):
    found = keras.layers.ReLU(threshold=threshold)(X)
    expected = [x if x > threshold else 0 for x in X]
    np.testing.assert_array_equal(ops.convert_to_numpy(found), expected)


def test_softplus():
    expected = np.log(1 + np.exp(X.astype("float64")))
    found = ops.convert_to_numpy(keras.layers.Activation("softplus")(X))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    found = VAFActivation(g="softplus").function(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
