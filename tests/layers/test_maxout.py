"""Maxout takes the largest of each k linear functions."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import Maxout
from tests.harness import check_layer


@pytest.mark.parametrize(
    "shape, expected", [((2, 6), (2, 2)), ((2, 5, 6), (2, 5, 2)), ((1, 2, 3, 6), None)]
)
def test_keras_own_checks(shape, expected):
    check_layer(
        Maxout,
        init_kwargs={"k": 3},
        input_shape=shape,
        expected_output_shape=expected or (*shape[:-1], 2),
        expected_num_trainable_weights=0,
        expected_num_non_trainable_weights=0,
        expected_num_seed_generators=0,
        expected_num_losses=0,
        supports_masking=True,
        run_training_check=False,
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
