"""Misspelt arguments get the nearest name, and layers show theirs."""

import keras
import numpy as np
import pytest

from keras_vaf import layers
from keras_vaf.layers import VAFActivation

MISSPELT = {
    "initialisation": (VAFActivation, {"initialisation": "relu"}, "initialization"),
    "regulariser": (VAFActivation, {"alpha_regulariser": "l2"}, "alpha_regularizer"),
    "dtipe": (VAFActivation, {"dtipe": "float32"}, "dtype"),
    "family": (layers.KAF, {"train_gama": True}, "train_gamma"),
    "sharing": (VAFActivation, {"sharing": "channels"}, "channel"),
    "g": (VAFActivation, {"g": "swish2"}, "swish"),
    "initialization": (VAFActivation, {"initialization": "Relu"}, "relu"),
    "data format": (VAFActivation, {"data_format": "channel_last"}, "channels_last"),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_the_nearest_name_is_offered(name):
    make, arguments, meant = MISSPELT[name]
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        make(**arguments)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"k": 2.5}, r"`k`.*integer of at least 1.*Received: k=2\.5"),
        ({"g": "softmax"}, r"`g` must be.*element alone.*Received: g='softmax'"),
        ({"g": keras.layers.ReLU()}, r"one of .*relu.*Received: g=<ReLU"),
        ({"g": "nonsense"}, r"Register it with.*Received: g='nonsense'"),
        ({"initialization": keras.initializers.Ones()}, r"initializers.RandomStart"),
        ({"k": 1, "initialization": "linear"}, r"k >= 2\. Received: k=1"),
        ({"sharing": (0, 1)}, r"batch axis.*Received: sharing=\(0, 1\)"),
    ],
)
def test_an_error_says_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        VAFActivation(**arguments)


@pytest.mark.parametrize("kind", [VAFActivation, layers.KAF, layers.PELU])
def test_a_class_in_place_of_a_layer_is_refused(kind):
    dense = keras.layers.Dense(3, activation=kind)
    with pytest.raises(ValueError, match=r"must be .* Received: \w+="):
        dense(np.ones((2, 3), "float32"))


def test_a_layer_shows_its_arguments():
    layer = VAFActivation(k=4, g="tanh", sharing=(1, 2), name="vaf")
    assert "name=vaf, k=4, g=tanh, sharing=(1, 2)" in repr(layer)
    assert repr(layers.PELU(name="p")) == "<PELU name=p, sharing=layer, built=False>"
    assert "functions=(tanh, elu" in repr(layers.ABU())
