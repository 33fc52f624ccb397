"""The spectral norm of a kernel never exceeds its limit."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.constraints import Orthogonal, SpectralNorm
from tests.harness import check_serialization

SHAPES = [(32, 32), (1, 32), (32, 1), (5, 7), (200, 50)]


def kernel(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def constrained(constraint, value):
    return ops.convert_to_numpy(constraint(ops.convert_to_tensor(value)))


def singular_values(matrix):
    return np.linalg.svd(matrix.astype("float64"), compute_uv=False)


def convolution_norm(kernel, size, stride):
    """Return the norm of a zero-padded convolution, from its whole matrix."""
    inputs = size * size * kernel.shape[2]
    basis = np.eye(inputs, dtype="float32").reshape(-1, size, size, kernel.shape[2])
    image = ops.conv(basis, kernel, stride, "same", data_format="channels_last")
    return singular_values(ops.convert_to_numpy(image).reshape(inputs, -1))[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_norm_reaches_the_limit_and_no_more(shape, scale):
    value = scale * kernel(shape)
    norm = singular_values(constrained(SpectralNorm(0.7), value))[0]
    assert norm <= 0.7
    assert norm > 0.69 or scale == 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_all_singular_values_reach_the_limit(shape):
    values = singular_values(constrained(Orthogonal(2.0), kernel(shape)))
    assert values[0] <= 2.0
    assert values[-1] > 1.9 or shape == (32, 32)  # its smallest one needs more steps


def test_a_small_kernel_is_left_alone():
    value = 1e-3 * kernel((5, 7))
    np.testing.assert_array_equal(constrained(SpectralNorm(), value), value)


def test_a_second_application_changes_nothing():
    once = constrained(SpectralNorm(), kernel((8, 8), seed=3))
    np.testing.assert_array_equal(constrained(SpectralNorm(), once), once)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_is_within_the_limit(stride):
    value = constrained(SpectralNorm(), 10 * kernel((3, 3, 2, 4)))
    assert convolution_norm(value, size=6, stride=stride) <= 1.0


@pytest.mark.parametrize("make", [SpectralNorm, Orthogonal])
def test_a_layer_keeps_the_limit_after_every_step(make):
    dense = keras.layers.Dense(4, kernel_constraint=make(0.5))
    model = keras.Sequential([keras.Input((6,)), dense])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = kernel((32, 6))
    for _ in range(5):
        model.train_on_batch(x, 10 * x[:, :4])
        assert singular_values(dense.get_weights()[0])[0] <= 0.5


@pytest.mark.parametrize("constraint", [SpectralNorm(2.0, 5), Orthogonal(0.5, 6, 7)])
def test_configuration(constraint):
    check_serialization(constraint)


def test_orthogonal_is_for_matrices():
    with pytest.raises(ValueError, match="`kernel_constraint` of a Dense layer"):
        Orthogonal()(ops.ones((3, 3, 2, 2)))
