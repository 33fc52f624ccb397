"""The calls that the kernels take."""

import keras
import pytest

from keras_vaf.ops import VAF, plain_operators
from keras_vaf.ops.case import case_of_layer
from keras_vaf.ops.equation import Layout

pytestmark = pytest.mark.backend("tensorflow")
RELU = VAF(keras.activations.relu)
SHAPE = (2, 3, 4, 5)


class Other(VAF):
    """A custom function, which the kernels do not know."""


def taken(
    function=RELU, unshared=(), dtype="float32", weights="float32", k=3, x=SHAPE, p=None
):
    sizes = tuple(SHAPE[axis] for axis in unshared)
    shapes = [x, *(p or [(*sizes, k)] * 3 + [sizes])]
    dtypes = [dtype] + [weights] * 4
    return case_of_layer(function, Layout(len(x), unshared), dtypes, shapes) is not None


def test_what_is_covered():
    for g in ("relu", "leaky_relu", "tanh", "sigmoid", "silu", "gelu"):
        assert taken(VAF(getattr(keras.activations, g)))
    assert taken(VAF(keras.ops.sin))
    for unshared in ((), (3,), (1,), (1, 2, 3), (2, 3)):
        assert taken(unshared=unshared)
    assert taken(dtype="bfloat16") and taken(dtype="float16") and taken(k=64)
    assert taken(x=(None, None, 4, 5), unshared=(3,))


def test_what_is_not_covered():
    assert not taken(VAF(keras.activations.elu))
    assert not taken(VAF(lambda h: h))
    assert not taken(Other(keras.activations.relu))
    assert not taken(unshared=(1, 3))
    assert not taken(unshared=(1, 1, 3)) and not taken(unshared=(-1,))
    assert not taken(dtype="float64") and not taken(weights="float64")
    assert not taken(k=65) and not taken(k=0)
    assert not taken(x=(2, 3, 4, None), unshared=(3,))
    with plain_operators():
        assert not taken()


@pytest.mark.parametrize(
    "parameters",
    [
        [(5, 3), (5, 3), (5, 3), (4,)],
        [(5, 3), (5, 3), (5, 2), (5,)],
        [(1, 3), (1, 3), (1, 3), (1,)],
        [(3,), (3,), (3,), ()],
        [(), (), (), ()],
        [(5, 3), (5, 3), (5,)],
    ],
)
def test_parameters_that_do_not_fit_are_left_to_the_framework(parameters):
    assert not taken(unshared=(3,), p=parameters)
