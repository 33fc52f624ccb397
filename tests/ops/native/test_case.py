"""The calls that the kernels take."""

import keras
import pytest

from keras_vaf.ops import VAF, plain_operators
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native import case_of, library

pytestmark = pytest.mark.backend("tensorflow")
RELU = VAF(keras.activations.relu)
WHOLE = Layout(4, ())


class Other(VAF):
    """A custom function, which the kernels do not know."""


@pytest.fixture(autouse=True)
def present(monkeypatch):
    found = library.Found(object(), None, "")
    monkeypatch.setattr(library, "find", lambda: found)


def taken(function=RELU, layout=WHOLE, dtype="float32", weights="float32", k=3):
    return case_of(function, layout, dtype, [weights] * 4, (k,)) is not None


def test_what_is_covered():
    for g in ("relu", "leaky_relu", "tanh", "sigmoid", "silu", "gelu"):
        assert taken(VAF(getattr(keras.activations, g)))
    assert taken(VAF(keras.ops.sin))
    for unshared in ((), (3,), (1,), (1, 2, 3), (2, 3)):
        assert taken(layout=Layout(4, unshared))
    assert taken(dtype="bfloat16") and taken(dtype="float16") and taken(k=64)


def test_what_is_not_covered():
    assert not taken(VAF(keras.activations.elu))
    assert not taken(VAF(lambda h: h))
    assert not taken(Other(keras.activations.relu))
    assert not taken(layout=Layout(4, (1, 3)))
    assert not taken(dtype="float64") and not taken(weights="float64")
    assert not taken(k=65) and not taken(k=0)
    with plain_operators():
        assert not taken()
    assert taken()


def test_nothing_is_covered_without_the_library(monkeypatch):
    absent = library.Found(None, None, "they were not compiled")
    monkeypatch.setattr(library, "find", lambda: absent)
    assert not taken()


def test_sizes():
    case = case_of(RELU, Layout(4, (1, 2)), "float32", ["float32"], (3,))
    assert case.sizes((2, 3, 4, 5)) == (2, 12, 5)
    case = case_of(RELU, Layout(2, ()), "float32", ["float32"], (3,))
    assert case.sizes((2, 3)) == (6, 1, 1)
