"""TensorFlow's ways of calling a function take every trainable activation."""

import numpy as np
import pytest

from tests.layers.family import ACTIVATIONS, built

pytestmark = pytest.mark.backend("tensorflow")

X = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


def with_a_signature(tf, layer, x):
    signature = [tf.TensorSpec([None, 4], "float32")]
    return tf.function(layer, input_signature=signature)(x)


WAYS = {
    "function": lambda tf, layer, x: tf.function(layer)(x),
    "signature": with_a_signature,
    "map": lambda tf, layer, x: tf.map_fn(layer, x[None])[0],
}


@pytest.mark.parametrize("sharing", ["layer", "channel"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda layer: layer.name)
def test_equal_to_a_plain_call(activation, way, sharing):
    import tensorflow as tf

    layer = built(activation, (None, 4), sharing=sharing)
    x = tf.constant(X)
    found = WAYS[way](tf, layer, x).numpy()
    expected = layer(x).numpy()  # afterwards: training may move running statistics
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
