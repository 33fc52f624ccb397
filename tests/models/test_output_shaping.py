"""Activations that shape an output, and gates, are kept."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.models import convert
from tests.models import blocks
from tests.models.networks import reasons, replaced


def functional(tail, shape=(6,), activation="tanh"):
    """A hidden layer, an activation called `act`, and what follows."""
    inputs = keras.Input(shape)
    x = layers.Dense(6, activation="relu", name="hidden")(inputs)
    x = layers.Dense(6, activation=activation, name="act")(x)
    return keras.Model(inputs, tail(x))


KEEPING = {
    "nothing": lambda x: x,
    "rescaling": layers.Rescaling(2.0, 1.0),
    "reshape": lambda x: layers.Flatten()(layers.Reshape((3, 2))(x)),
    "arithmetic": lambda x: 2 * (1 - x) / 3 + 5,
    "slice": lambda x: x[:, 1:3],
    "concatenate": lambda x: layers.Concatenate()([x, layers.Dense(2)(x)]),
    "average": lambda x: layers.Average()([x, layers.Dense(6)(x)]),
    "dropout": lambda x: layers.Dropout(0.5)(layers.GaussianNoise(0.1)(x)),
    "lambda": layers.Lambda(lambda x: x * 2),
    "one of two": lambda x: [layers.Dense(2)(x), ops.negative(x)],
    "nested": lambda x: keras.Sequential([layers.Rescaling(2.0)])(x),
}
UNDOING = {
    "dense": layers.Dense(2),
    "normalization": layers.BatchNormalization(),
    "sum": lambda x: x + layers.Dense(6)(x),
    "code": blocks.Feedforward(3),
}


@pytest.mark.parametrize("name", KEEPING)
def test_what_keeps_the_range_keeps_the_activation(name):
    found = convert(functional(KEEPING[name]))
    assert replaced(found)[:1] == ["hidden"]
    assert reasons(found)["act"] == "it shapes an output of the model"


@pytest.mark.parametrize("name", UNDOING)
def test_what_undoes_the_range_lets_it_be_replaced(name):
    found = convert(functional(UNDOING[name]))
    assert "act" in replaced(found)


def test_in_images_unless_it_is_named():
    inputs = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, activation="relu", name="hidden")(inputs)
    x = layers.Conv2D(2, 1, activation="sigmoid", name="act")(x)
    x = layers.Resizing(4, 4)(layers.MaxPooling2D()(layers.UpSampling2D()(x)))
    model = keras.Model(inputs, layers.GlobalAveragePooling2D()(x))
    assert list(reasons(convert(model))) == ["act"]
    named = convert(model, layers="act")
    assert replaced(named) == ["act"]


@pytest.mark.parametrize("gate", ["sigmoid", "hard_sigmoid", "tanh"])
def test_gates_are_kept(gate):
    def squeeze_and_excite(x):
        y = layers.Dense(3, activation="relu", name="squeeze")(x)
        y = layers.Dense(6, activation=gate, name="excite")(y)
        return layers.Dense(2)(layers.Multiply()([x, layers.Reshape((6,))(y)]))

    found = convert(functional(squeeze_and_excite, activation="gelu"))
    assert reasons(found) == {"excite": "it is a gate that multiplies other values"}


def test_a_hard_sigmoid_made_of_relu6_is_a_gate():
    def gate(x):
        y = layers.ReLU(6, name="gate")(layers.Dense(6)(x) + 3) / 6
        return layers.Dense(2)(x * y)

    found = convert(functional(gate, activation="relu6"))
    assert list(reasons(found)) == ["gate"]


def test_gates_in_the_code_of_a_layer_are_kept():
    block = blocks.Feedforward(3, "sigmoid", name="block")
    found = convert(functional(lambda x: layers.Dense(1)(block(x))))
    assert "is a gate" in reasons(found)["block"]


def test_before_a_model_is_built():
    model = keras.Sequential(
        [
            layers.Dense(2, "relu", name="a"),
            layers.Dense(2, "tanh"),
            layers.Rescaling(2),
        ]
    )
    found = convert(model, sharing="channel")
    assert replaced(found) == ["a"]
    assert found(np.ones((2, 4))).shape == (2, 2)
    assert found.layers[1].beta.shape == (2, 3)
