"""MLPConv is a convolution and dense layers that slide over the image with it."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import MLPConv
from tests.harness import check_layer


def test_keras_own_checks():
    check_layer(
        MLPConv,
        init_kwargs={"filters": (4, 3), "kernel_size": 3, "padding": "same"},
        input_shape=(2, 5, 5, 2),
        expected_output_shape=(2, 5, 5, 3),
        expected_num_trainable_weights=4,
        expected_num_non_trainable_weights=0,
        expected_num_seed_generators=0,
        expected_num_losses=0,
        supports_masking=False,
    )


def test_it_is_a_small_network_on_each_patch():
    layer = MLPConv(filters=(4, 3, 2), kernel_size=(2, 3), strides=2)
    x = np.random.default_rng(0).normal(size=(1, 6, 7, 2)).astype("float32")
    y = ops.convert_to_numpy(layer(x))
    assert y.shape == (1, 3, 3, 2)
    kernels, biases = layer.get_weights()[::2], layer.get_weights()[1::2]
    for row, column in np.ndindex(3, 3):
        h = x[0, 2 * row : 2 * row + 2, 2 * column : 2 * column + 3].ravel()
        for kernel, bias in zip(kernels, biases, strict=True):
            h = np.maximum(h @ kernel.reshape(-1, kernel.shape[-1]) + bias, 0)
        np.testing.assert_allclose(y[0, row, column], h, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype, compute", [("mixed_float16", "float16")])
def test_mixed_precision_reaches_the_convolutions(dtype, compute):
    y = MLPConv((3,), 1, dtype=dtype)(np.ones((1, 2, 2, 1), "float32"))
    assert keras.backend.standardize_dtype(y.dtype) == compute
