"""The calls that the kernels take."""

import keras
import pytest

from keras_vaf.ops import VAF, plain_operators
from keras_vaf.ops.equation import Layout
from keras_vaf.ops.native.case import case_of

pytestmark = pytest.mark.backend("tensorflow")
RELU = VAF(keras.activations.relu)
SHAPE = (2, 3, 4, 5)


class Other(VAF):
    """A custom function, which the kernels do not know."""


def fitting(shape, unshared, k):
    """Shapes of the parameters of an input."""
    sizes = tuple(shape[axis] for axis in unshared)
    return [(*sizes, k)] * 3 + [sizes]


def case(function=RELU, unshared=(), dtype="float32", weights="float32", k=3, **other):
    x = other.get("x", SHAPE)
    shapes = other.get("parameters", fitting(SHAPE, unshared, k))
    return case_of(
        function, Layout(len(x), unshared), [dtype] + [weights] * 4, [x, *shapes]
    )


def taken(*args, **kwargs):
    return case(*args, **kwargs) is not None


def test_what_is_covered():
    for g in ("relu", "leaky_relu", "tanh", "sigmoid", "silu", "gelu"):
        assert taken(VAF(getattr(keras.activations, g)))
    assert taken(VAF(keras.ops.sin))
    for unshared in ((), (3,), (1,), (1, 2, 3), (2, 3)):
        assert taken(unshared=unshared)
    assert taken(dtype="bfloat16") and taken(dtype="float16") and taken(k=64)


def test_what_is_not_covered():
    assert not taken(VAF(keras.activations.elu))
    assert not taken(VAF(lambda h: h))
    assert not taken(Other(keras.activations.relu))
    assert not taken(unshared=(1, 3))
    assert not taken(unshared=(1, 1, 3)) and not taken(unshared=(-1,))
    assert not taken(dtype="float64") and not taken(weights="float64")
    assert not taken(k=65) and not taken(k=0)
    with plain_operators():
        assert not taken()
    assert taken()


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
    assert taken(unshared=(3,), parameters=fitting(SHAPE, (3,), 3))
    assert not taken(unshared=(3,), parameters=parameters)


def test_an_unknown_size_is_covered_only_where_parameters_are_shared():
    assert taken(x=(None, None, 4, 5), unshared=(3,))
    assert not taken(x=(2, 3, 4, None), unshared=(3,))
