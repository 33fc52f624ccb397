"""The start at g: f equals g to the bit, and every spare hidden unit can learn."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.initializers import GStart
from keras_vaf.layers import VAFActivation
from keras_vaf.ops import NAMES
from keras_vaf.ops.functions import get_function
from tests.harness import double_precision

# The places of each value in the input and in f are the same: some backends round the
# same value differently at different places.
X = np.linspace(-100, 100, 804).astype("float32").reshape(-1, 2, 3)


@keras.saving.register_keras_serializable(package="test_g_start")
def bump(x):
    return x * ops.exp(-ops.square(x))


def output(x, **arguments):
    """Return what a fresh layer makes of x."""
    return ops.convert_to_numpy(VAFActivation(**arguments)(x))


def assert_equal_where_finite(found, expected):
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[finite], expected[finite])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("g", NAMES)
def test_f_is_g_for_every_k(g, dtype):
    with double_precision():
        x = ops.convert_to_tensor(X.astype(dtype))
        expected = ops.convert_to_numpy(get_function(g, "g")(x))
        for k in (1, 2, 3, 16):
            assert_equal_where_finite(output(x, k=k, g=g, dtype=dtype), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("g", NAMES)
def test_half_precision_is_rounded_once(g, dtype):
    x = ops.cast(ops.convert_to_tensor(X), dtype)
    exact = get_function(g, "g")(ops.cast(x, "float32"))
    found, expected = (
        ops.convert_to_numpy(ops.cast(y, "float32"))
        for y in (VAFActivation(g=g, dtype=dtype)(x), ops.cast(exact, dtype))
    )
    finite = np.isfinite(ops.convert_to_numpy(exact))
    np.testing.assert_array_equal(found[finite], expected[finite])


@pytest.mark.parametrize(
    "g",
    [
        *(lambda x: ops.log(x), lambda x: ops.sqrt(x), lambda x: ops.sinh(x)),
        *(bump, lambda x: x + 1),
    ],
)
def test_f_is_g_for_functions_of_your_own(g):
    expected = ops.convert_to_numpy(g(ops.convert_to_tensor(X)))
    for k in (1, 2, 5):
        assert_equal_where_finite(output(X, k=k, g=g), expected)
    assert GStart().error(3, bump) == (0, 0, 0)
