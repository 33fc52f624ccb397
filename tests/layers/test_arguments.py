"""Wrong arguments get a remedy, and initializers are taken in every form of Keras.

`tests/test_wrong_arguments.py` tries many more values.
"""

import json

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation


@pytest.mark.parametrize(
    "kind, arguments, meant",
    [
        (VAFActivation, {"initialisation": "relu"}, "initialization"),
        (VAFActivation, {"alpha_regulariser": "l2"}, "alpha_regularizer"),
        (VAFActivation, {"dtipe": "float32"}, "dtype"),
        (layers.KAF, {"train_gama": True}, "train_gamma"),
        (VAFActivation, {"sharing": "channels"}, "channel"),
        (VAFActivation, {"g": "swish2"}, "swish"),
        (VAFActivation, {"initialization": "Relu"}, "relu"),
    ],
)
def test_the_nearest_name_is_offered(kind, arguments, meant):
    with pytest.raises(ValueError, match=f"Did you mean '{meant}'"):
        kind(**arguments)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"g": "softmax"}, r"`g` must be.*element alone.*Received: g='softmax'"),
        ({"g": "nonsense"}, r"Register it with.*Received: g='nonsense'"),
        ({"initialization": keras.initializers.Ones()}, r"initializers.RandomStart"),
        ({"k": 1, "initialization": "linear"}, r"k >= 2\. Received: k=1"),
        ({"sharing": (0, 1)}, r"batch axis.*Received: sharing=\(0, 1\)"),
        ({"alpha_initializer": "nonsense"}, "nonsense"),
        (
            {"alpha_initializer": RandomStart()},
            r"`initialization`.*alpha_initializer=<keras_vaf",
        ),
        (
            {"alpha_initializer": lambda shape, dtype: ops.ones((7,))},
            r"shape \(3,\).*Received.*\(7,\)",
        ),
    ],
)
def test_an_error_says_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        VAFActivation(**arguments)


@pytest.mark.parametrize(
    "arguments, shape, message",
    [
        ({"sharing": (3,)}, (None, 4, 5), r"rank 3.*of 1 to 2 or -2.*sharing=\(3,\)"),
        ({"sharing": (1, -2)}, (None, 4, 5), r"rank 3.*different.*sharing=\(1, -2\)"),
        (
            {"sharing": "neuron"},
            (None, None, 3),
            r"known size.*input_shape=\(None, None, 3\)",
        ),
    ],
)
def test_a_shape_that_does_not_fit(arguments, shape, message):
    with pytest.raises(ValueError, match=message):
        VAFActivation(**arguments).build(shape)


def test_an_input_that_does_not_fit():
    channel = VAFActivation(sharing="channel")
    with pytest.raises(ValueError, match="has no weights yet"):
        channel.function(0.0)
    channel(np.ones((2, 3), "float32"))
    for x, layer, message in (
        (np.ones((2, 3), "int32"), VAFActivation(), r"ops\.cast.*Received: .*int32"),
        (np.ones(3, "float32"), VAFActivation(), "min_ndim=2"),
        (np.ones((2, 4), "float32"), channel, "expected axis 1 of input shape to"),
        (np.ones((2, 3, 3), "float32"), channel, "expected ndim=2"),
    ):
        with pytest.raises(ValueError, match=message):
            layer(x)
    inputs = keras.Input((3,), dtype="int32")
    with pytest.raises(ValueError, match=r"ops\.cast.*Received: .*int32"):
        keras.Model(inputs, VAFActivation()(inputs))(np.ones((2, 3), "int32"))


@pytest.mark.parametrize("kind", [VAFActivation, layers.KAF])
def test_a_class_in_place_of_a_layer_is_refused(kind):
    dense = keras.layers.Dense(3, activation=kind)
    with pytest.raises(ValueError, match=r"must be .* Received: \w+="):
        dense(np.ones((2, 3), "float32"))


def test_a_layer_shows_its_arguments():
    layer = VAFActivation(k=4, g="tanh", sharing=(1, 2), name="vaf")
    assert "name=vaf, k=4, g=tanh, sharing=(1, 2)" in repr(layer)
    assert repr(layers.PELU(name="p")) == "<PELU name=p, sharing=layer, built=False>"
    assert "functions=(tanh, elu" in repr(layers.ABU())


def test_the_global_data_format_is_stored_resolved():
    before = keras.config.image_data_format()
    keras.config.set_image_data_format("channels_first")
    layer = VAFActivation(sharing="channel")
    keras.config.set_image_data_format(before)
    assert layer.get_config()["data_format"] == "channels_first"
    layer.build((None, 7, 5, 5))
    assert layer.beta_bias.shape == (7,)


@keras.saving.register_keras_serializable(package="tests")
class Countdown(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return ops.cast(-ops.reshape(ops.arange(np.prod(shape)), shape), dtype)


@keras.saving.register_keras_serializable(package="tests")
def all_threes(shape, dtype=None):
    return ops.full(shape, 3.0, dtype=dtype)


FORMS = {
    "string": "ones",
    "class": keras.initializers.Ones,
    "object": keras.initializers.RandomNormal(seed=1),
    "dictionary": {"class_name": "Constant", "config": {"value": 0.25}},
    "own object": Countdown(),
    "own name": "tests>Countdown",
    "own function": all_threes,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "kind, weight", [(keras.layers.PReLU, "alpha"), (VAFActivation, "beta")]
)
def test_forms_that_prelu_accepts(kind, weight, form, tmp_path):
    layer = kind(**{f"{weight}_initializer": FORMS[form]})
    model = keras.Sequential([keras.Input((4,)), layer])
    model.save(tmp_path / "model.keras")
    copies = (
        model,
        keras.saving.load_model(tmp_path / "model.keras"),
        keras.models.clone_model(model),
        keras.models.model_from_json(model.to_json()),
        keras.Sequential.from_config(json.loads(json.dumps(model.get_config()))),
    )
    drawn = getattr(layer, weight)
    expected = keras.initializers.get(FORMS[form])(drawn.shape, dtype="float32")
    for copy in copies:
        value = ops.convert_to_numpy(getattr(copy.layers[0], weight))
        np.testing.assert_array_equal(value, ops.convert_to_numpy(expected))


@pytest.mark.parametrize("name", ["RandomStart", "GStart", "FunctionStart"])
def test_starts_by_registered_name(name):
    name = f"keras_vaf>{name}"
    layer = VAFActivation(initialization=name)
    assert layer.get_config()["initialization"] == name
    again = VAFActivation.from_config(layer.get_config())
    assert type(again._start) is type(keras.initializers.get(name))
