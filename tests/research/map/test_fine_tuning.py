"""The task of fine-tuning: its convolution, and what each method trains."""

import keras
import numpy as np
import pytest

from keras_vaf.research.map.tasks.fine_tuning import (
    ARMS,
    ConvolutionByProducts,
    network_of,
)

pytestmark = pytest.mark.backend("jax")


@pytest.mark.parametrize("size", [7, 14])
@pytest.mark.parametrize("strides", [1, 2, 3])
@pytest.mark.parametrize("width", [2, 3])
def test_products_of_matrices_equal_keras_convolution(size, strides, width):
    x = np.random.default_rng(0).normal(size=(2, size, size + 1, 3)).astype("float32")
    expected = keras.layers.Conv2D(4, width, strides, padding="same")
    layer = ConvolutionByProducts(4, width, strides, padding="same")
    y = expected(x)
    layer.build(x.shape)
    layer.set_weights(expected.get_weights())
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(layer(x)),
        keras.ops.convert_to_numpy(y),
        rtol=1e-5,
        atol=1e-6,
    )


def test_each_method_trains_its_parts_alone(monkeypatch):
    """The counts follow from kernels of 27 x 16, 144 x 32, 288 x 64 and 64 x 64."""
    fine_tuning = "keras_vaf.research.map.tasks.fine_tuning"
    monkeypatch.setattr(f"{fine_tuning}.pretrained", lambda *_: _random_weights())
    network = network_of("mnist", "quick")
    trained = {
        arm.name: sum(
            int(np.prod(w.shape)) for w in network(arm, 0).trainable_variables
        )
        for arm in ARMS
    }
    head, channels = 64 * 10 + 10, 16 + 32 + 64
    kernels = 27 * 16 + 144 * 32 + 288 * 64 + 64 * 64
    shapes = ((27, 16), (144, 32), (288, 64), (64, 64))
    assert trained == {
        "probe": head,
        "biases": head + channels + 64,
        "normalization": head + 2 * channels,
        "vaf-layer": head + 4 * 10,
        "vaf-channel": head + 10 * (channels + 64),
        "vaf-channel-6": head + 19 * (channels + 64),
        "prelu": head + channels + 64,
        "lora-1": trained["lora-1"],
        "lora-4": 4 * (trained["lora-1"] - head) + head,
        "everything": head + kernels + channels + 64 + 2 * channels,
    }
    assert head < trained["lora-1"] < head + sum(a + b for a, b in shapes) * 9


def _random_weights():
    from keras_vaf.research.map.tasks.fine_tuning import make_network

    return tuple(make_network().get_weights())
