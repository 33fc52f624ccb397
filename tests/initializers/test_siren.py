"""Kernels of SIREN."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import SirenKernel
from tests.harness import check_serialization


@pytest.mark.parametrize("omega, limit", [(30.0, 15.0), (0.0, 3**0.5)])
def test_weights_are_uniform_within_the_limit(omega, limit):
    kernel = keras.ops.convert_to_numpy(SirenKernel(omega, seed=1)((2, 5000)))
    assert 0.99 * limit < np.abs(kernel).max() <= limit
    np.testing.assert_allclose(kernel.std(), limit / 3**0.5, rtol=0.03)


def test_a_convolution_has_the_inputs_of_all_positions():
    kernel = keras.ops.convert_to_numpy(SirenKernel(seed=1)((3, 3, 2, 500)))
    assert 0.99 < np.abs(kernel).max() / (6 / 18) ** 0.5 <= 1


def test_weights_have_the_dtype_of_the_layer():
    layer = keras.layers.Dense(2, kernel_initializer=SirenKernel(30), dtype="float16")
    layer.build((None, 3))
    assert SirenKernel()((3, 4), "float16").dtype == layer.kernel.value.dtype


def test_a_seed_gives_the_same_weights():
    first, second, other = (SirenKernel(seed=s)((3, 4)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_configuration():
    check_serialization(SirenKernel(30.0, 2))


@pytest.mark.parametrize("arguments", [{"omega": -1}, {"seed": -1}])
def test_wrong_arguments(arguments):
    with pytest.raises(ValueError, match="must be"):
        SirenKernel(**arguments)
