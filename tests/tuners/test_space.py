"""The search space of a VAF: names, choices, and the layer that is drawn."""

import keras
import keras_tuner
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.tuners import SearchSpace, activation

pytestmark = pytest.mark.backend("torch")  # which compiles nothing


@keras.saving.register_keras_serializable(package="test_space")
def bump(x):
    return keras.ops.exp(-x * x)


def test_the_hyper_parameters_are_those_of_the_paper():
    hp = keras_tuner.HyperParameters()

    layer = activation(hp)

    assert isinstance(layer, VAFActivation)
    choices = {choice.name: choice.values for choice in hp.space}
    assert choices["k"] == [3, 5, 7, 9, 11, 15]
    assert choices.keys() == {"k", "g", "sharing", "initialization"}
    assert {"relu", "tanh"} <= set(choices["g"])
    assert choices["initialization"] == ["g", "random", "relu"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 7), ("g", "tanh"), ("sharing", "neuron"), ("initialization", "random")],
)
def test_the_drawn_value_is_that_of_the_layer(name, value):
    hp = keras_tuner.HyperParameters()
    hp.values[name] = value

    assert activation(hp).get_config()[name] == value


def test_every_point_of_the_default_space_can_be_built():
    space = SearchSpace()
    for k in space.k:
        for g in space.g:
            for start in space.initialization:
                hp = keras_tuner.HyperParameters()
                hp.values |= {"k": k, "g": g, "initialization": start}
                layer = activation(hp, sharing="neuron")
                outputs = keras.ops.convert_to_numpy(layer(np.ones((2, 3))))
                assert np.all(np.isfinite(outputs))


def test_a_prefix_makes_hyper_parameters_of_its_own():
    hp = keras_tuner.HyperParameters()
    hp.values |= {"first_k": 5, "second_k": 9}

    layers = [activation(hp, prefix) for prefix in ("first_", "second_")]

    assert [layer.k for layer in layers] == [5, 9]
    assert len(hp.space) == 8


def test_fixed_arguments_are_not_searched():
    hp = keras_tuner.HyperParameters()

    layer = activation(hp, k=4, g="tanh", name="mine")

    assert (layer.k, layer.g, layer.name) == (4, keras.activations.tanh, "mine")
    assert [choice.name for choice in hp.space] == ["sharing", "initialization"]


def test_a_fixed_hyper_parameter_need_not_be_a_choice():
    hp = keras_tuner.HyperParameters()
    hp.Fixed("k", 4)

    assert activation(hp).k == 4


def test_axes_and_objects_are_searched_by_name():
    space = SearchSpace(
        k={"few": 2, "many": 20},
        g=(bump, "relu"),
        sharing=["layer", (1, 2)],
        initialization=(RandomStart(seed=7), "relu"),
    )
    hp = keras_tuner.HyperParameters()
    names = {
        "k": "many",
        "g": "test_space>bump",
        "sharing": "(1, 2)",
        "initialization": "RandomStart(seed=7, rescale=False)",
    }
    hp.values |= names

    layer = activation(hp, space=space)

    assert (layer.k, layer.g, layer.sharing) == (20, bump, (1, 2))
    assert layer.initialization.get_config() == {"seed": 7, "rescale": False}
    for name, chosen in names.items():
        assert chosen in space.choices(name)


def test_an_inactive_choice_leaves_a_layer_that_can_be_built():
    hp = keras_tuner.HyperParameters()
    kind = hp.Choice("kind", ["relu", "vaf"])
    with hp.conditional_scope("kind", ["vaf"]):
        layer = activation(hp)

    assert kind == "relu"
    assert layer.k == 3


@pytest.mark.parametrize(
    ("arguments", "received"),
    [
        ({"k": ()}, r"k=\(\)"),
        ({"g": {}}, r"g=\{\}"),
        ({"g": "relu"}, "g='relu'"),
        ({"k": 3}, "k=3"),
        ({"k": (3, 3)}, r"k=\(3, 3\)"),
    ],
    ids=["empty", "empty mapping", "text", "number", "twice"],
)
def test_a_space_without_a_choice_is_refused(arguments, received):
    with pytest.raises(ValueError, match=f"Received: {received}"):
        SearchSpace(**arguments)


def test_a_function_that_cannot_be_named_is_refused():
    with pytest.raises(ValueError, match="Register it"):
        SearchSpace(g=[lambda x: x])


def test_a_wrong_value_is_refused_by_the_layer():
    hp = keras_tuner.HyperParameters()

    with pytest.raises(ValueError, match="Received: k=0"):
        activation(hp, space=SearchSpace(k=(0,)))
