"""Inputs of unknown rank, and ragged ones: TensorFlow alone has them."""

import numpy as np
import pytest
from keras import layers

from keras_vaf.layers import KAF, VAFActivation

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def tf():
    return pytest.importorskip("tensorflow")


@pytest.mark.parametrize("kind", [VAFActivation, KAF])
def test_a_shared_function_takes_any_rank_in_a_graph(kind, tf):
    layer = kind(sharing="layer")

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x, training=True)
        return y, tape.gradient(y, x)

    for shape in [(2, 3), (2, 3, 4, 5)]:
        x = np.random.default_rng(0).normal(size=shape).astype("float32")
        y, gradient = run(x)
        assert gradient.shape == shape
        np.testing.assert_allclose(y, layer.function(x), rtol=1e-5, atol=1e-6)


def test_ragged_inputs_are_taken_as_prelu_takes_them(tf):
    x = tf.ragged.constant([[1.0, -2.0], [3.0]], dtype=tf.float32)
    slopes = layers.PReLU("ones", shared_axes=[1])
    assert slopes(x).to_list() == x.to_list()
    y = VAFActivation(initialization="relu")(x)
    assert y.to_list() == [[1.0, 0.0], [3.0]]


def test_functions_differ_along_axes_that_are_not_ragged(tf):
    rows = [[[1.0, -1.0], [2.0, -2.0]], [[3.0, -3.0]]]
    x = tf.ragged.constant(rows, dtype=tf.float32, ragged_rank=1)
    layer = VAFActivation(sharing="channel", initialization="leaky_relu")
    y = layer(x)
    assert layer.alpha.shape == (2, 3)
    np.testing.assert_allclose(y.values, [[1, -0.2], [2, -0.4], [3, -0.6]], atol=1e-6)
    layer = VAFActivation(sharing="channel")
    layer.build((None, 3))
    with pytest.raises(ValueError, match="shared along ragged axes"):
        layer.call(tf.ragged.constant([[1.0], [1.0, 2.0]], dtype=tf.float32))
