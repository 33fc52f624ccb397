"""Maxout and MLPConv, which do not act on each element alone.

Maxout takes the largest of each k linear functions. MLPConv is a convolution and dense
layers that slide over the image with it.
"""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import Maxout, MLPConv
from tests.harness import check_layer

NONE = {
    f"expected_num_{name}": 0
    for name in ("non_trainable_weights", "seed_generators", "losses")
}


@pytest.mark.parametrize("shape", [(2, 6), (2, 5, 6), (1, 2, 3, 6)])
def test_keras_own_checks(shape):
    check_layer(
        Maxout,
        init_kwargs={"k": 3},
        input_shape=shape,
        expected_output_shape=(*shape[:-1], 2),
        expected_num_trainable_weights=0,
        supports_masking=True,
        run_training_check=False,
        **NONE,
    )


def test_it_is_the_papers_unit_after_a_dense_layer():
    dense = keras.layers.Dense(4 * 3)
    x = np.random.default_rng(0).normal(size=(5, 7)).astype("float32")
    y = ops.convert_to_numpy(Maxout(k=3)(dense(x)))
    kernel, bias = dense.get_weights()
    z = np.einsum("ni,iuk->nuk", x, kernel.reshape(7, 4, 3)) + bias.reshape(4, 3)
    np.testing.assert_allclose(y, z.max(axis=-1), rtol=1e-4, atol=1e-5)


def test_channels_first_and_unknown_sizes():
    x = np.random.default_rng(0).normal(size=(2, 6, 3, 4)).astype("float32")
    inputs = keras.Input((6, None, None))
    model = keras.Model(inputs, Maxout(k=2, data_format="channels_first")(inputs))
    assert model.output_shape == (None, 3, None, None)
    expected = np.maximum(x[:, ::2], x[:, 1::2])
    np.testing.assert_array_equal(ops.convert_to_numpy(model(x)), expected)


def test_k_must_divide_the_channels():
    with pytest.raises(ValueError, match="k times as many units"):
        Maxout(k=4)(np.ones((2, 6), "float32"))


def test_keras_own_checks_of_a_convolution():
    check_layer(
        MLPConv,
        init_kwargs={"filters": (4, 3), "kernel_size": 3, "padding": "same"},
        input_shape=(2, 5, 5, 2),
        expected_output_shape=(2, 5, 5, 3),
        expected_num_trainable_weights=4,
        supports_masking=False,
        **NONE,
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


def test_mixed_precision_reaches_the_convolutions():
    y = MLPConv((3,), 1, dtype="mixed_float16")(np.ones((1, 2, 2, 1), "float32"))
    assert keras.backend.standardize_dtype(y.dtype) == "float16"
