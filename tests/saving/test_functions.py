"""A layer saves and loads every function that it takes, or refuses it at once."""

import functools
import re

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers
from keras_vaf.initializers import FunctionStart
from keras_vaf.layers import VAFActivation

BACKEND = keras.backend.backend()
TAKEN = pytest.mark.xfail(
    tuple(map(int, keras.__version__.split(".")[:2])) < (3, 15),
    raises=ValueError,
    reason="Before 3.15, Keras takes no functions as regularizers and constraints.",
)
X = np.linspace(-4, 4, 81)


def of_the_framework(*names):
    """Return functions of the current backend by their names in this framework."""
    if BACKEND == "tensorflow":
        import tensorflow as tf

        holders = (tf.nn, tf)
    elif BACKEND == "jax":
        import jax

        holders = (jax.nn, jax.numpy)
    else:
        import torch

        holders = (torch.nn.functional, torch)
    found = (getattr(h, name) for name in names for h in holders if hasattr(h, name))
    return list(found)


KNOWN = [
    *(ops.relu, ops.tanh, ops.gelu, ops.leaky_relu, ops.relu6, np.tanh, np.sin),
    *of_the_framework("relu", "relu6", "sigmoid", "silu", "softplus", "softsign"),
    *of_the_framework("gelu", "elu", "selu", "tanh", "sin", "exp"),
    functools.partial(keras.activations.relu, negative_slope=0.2),
]
UNKNOWN = [
    *(ops.abs, ops.softmax, np.abs, *of_the_framework("abs")),
    functools.partial(keras.activations.leaky_relu, negative_slope=0.1),
]


class TimesThree:
    """A function that is an object."""

    def __call__(self, x):
        return 3 * x


times_three = TimesThree()
keras.saving.register_keras_serializable("tests", "times_three")(times_three)


def reloaded(layer, tmp_path):
    model = keras.Sequential([keras.Input((2,)), layer])
    model.save(tmp_path / "model.keras")
    return keras.saving.load_model(tmp_path / "model.keras").layers[-1]


def shown(function):
    """Return a function as text that is the same in each process."""
    return re.sub(" at 0x[0-9a-f]+", "", repr(function))


@pytest.mark.parametrize("g", [*KNOWN, times_three], ids=shown)
def test_g_is_found_again(g, tmp_path):
    layer = VAFActivation(g=g)
    x = X if isinstance(g, np.ufunc) else ops.convert_to_tensor(X, "float32")
    expected = ops.convert_to_numpy(g(x))
    np.testing.assert_allclose(layer.function(X), expected, 1e-5, 1e-5)
    again = reloaded(layer, tmp_path)
    assert again.g is layer.g
    np.testing.assert_array_equal(again.function(X), layer.function(X))


MAKERS = {
    "g": lambda f: VAFActivation(g=f),
    "initialization": lambda f: VAFActivation(initialization=f),
    "start": lambda f: VAFActivation(initialization=FunctionStart(f)),
    "KAF": lambda f: layers.KAF(initialization=f, sharing="layer"),
    "Rational": lambda f: layers.Rational(initialization=f),
    "SplineActivation": lambda f: layers.SplineActivation(initialization=f),
    "ABU": lambda f: layers.ABU(functions=("relu", f)),
    "ActivationEnsemble": lambda f: layers.ActivationEnsemble(functions=("relu", f)),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_argument_for_a_function_recognizes_it_or_refuses_it_at_once(
    make, tmp_path
):
    layer = make(ops.relu)
    assert reloaded(layer, tmp_path).get_config() == layer.get_config()
    for function in UNKNOWN:
        with pytest.raises(ValueError, match="register_keras_serializable"):
            make(function)


@keras.saving.register_keras_serializable("tests")
def nothing(value):
    return ops.zeros(())


@pytest.mark.parametrize(
    "argument",
    [
        pytest.param("alpha_regularizer", marks=TAKEN),
        pytest.param("beta_constraint", marks=TAKEN),
        "function_regularizer",
    ],
)
def test_other_arguments_take_what_a_file_can_name(argument, tmp_path):
    again = reloaded(VAFActivation(**{argument: nothing}), tmp_path)
    assert getattr(again, argument) is nothing
    if argument == "function_regularizer":
        return
    for value in (*of_the_framework("abs"), np.abs):
        with pytest.raises(ValueError, match=f"`{argument}` must be an object with"):
            VAFActivation(**{argument: value})


@pytest.mark.parametrize(
    "argument",
    [
        pytest.param("alpha_regularizer", marks=TAKEN),
        *("function_regularizer", "activity_regularizer"),
    ],
)
def test_a_lambda_elsewhere_trains_but_is_not_saved(argument):
    layer = VAFActivation(**{argument: lambda each: ops.zeros(())})
    layer(np.ones((2, 2), "float32"))
    with pytest.raises(ValueError, match=f"`{argument}` cannot be saved"):
        layer.get_config()
