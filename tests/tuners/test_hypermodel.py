"""Any model with its activations left to a tuner."""

import keras
import keras_tuner
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.tuners import ACTIVATIONS, CrossValidated, SearchSpace, hypermodel

pytestmark = pytest.mark.backend("torch")  # which compiles nothing


@pytest.fixture
def model():
    """A compiled network of two hidden layers."""
    layers = [
        keras.layers.Dense(4, "relu", name="first"),
        keras.layers.Dense(4, name="second"),
        keras.layers.Activation("tanh", name="squash"),
        keras.layers.Dense(2, "softmax", name="class"),
    ]
    model = keras.Sequential([keras.Input((3,)), *layers])
    model.compile("sgd", "sparse_categorical_crossentropy")
    return model


def drawn(**values):
    hp = keras_tuner.HyperParameters()
    hp.values |= values
    return hp


def kinds(model):
    """Names of the classes of the activations behind the hidden layers."""
    flat = [layer for layer in model.layers if not layer.name.startswith("class")]
    return [type(n).__name__ for n in flat if not isinstance(n, keras.layers.Dense)]


def test_all_hidden_activations_are_replaced(model):
    built = hypermodel(model)(drawn(k=5, sharing="neuron"))

    vafs = [layer for layer in built.layers if isinstance(layer, VAFActivation)]
    assert [(vaf.k, vaf.sharing) for vaf in vafs] == [(5, "neuron")] * 2
    assert built.compiled
    assert built.layers[-1].activation is keras.activations.softmax


def test_the_model_itself_stays_as_it_is(model):
    before = model.get_weights()
    built = hypermodel(model)(drawn())
    built.fit(np.ones((4, 3)), np.zeros(4), verbose=0)

    for weight, same in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, same)


def test_chosen_layers_only(model):
    built = hypermodel(model, layers="squash")(drawn())

    assert kinds(built) == ["VAFActivation"]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_member_of_the_family_can_be_chosen(model, name):
    hp = drawn(activation=name)
    built = hypermodel(model, activations=ACTIVATIONS)(hp)

    assert kinds(built) == [name, name]
    outputs = built(np.ones((2, 3), "float32"))
    assert np.all(np.isfinite(keras.ops.convert_to_numpy(outputs)))
    assert hp.is_active("k") == (name == "VAFActivation")


def test_a_builder_may_ask_for_more():
    def build(hp):
        layers = [keras.layers.Dense(hp.Choice("width", [2, 4]), "relu")]
        model = keras.Sequential([keras.Input((3,)), *layers, keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model

    hp = drawn(width=4, k=7)
    built = hypermodel(build, SearchSpace(k=(3, 7)))(hp)

    assert built.layers[0].units == 4
    assert kinds(built) == ["VAFActivation"]
    assert {choice.name for choice in hp.space} > {"width", "k"}


def test_activations_compete_in_one_search(model, tmp_path):
    tuner = CrossValidated(keras_tuner.RandomSearch)(
        hypermodel(model, activations=("VAFActivation", "ReLU")),
        objective="val_loss",
        max_trials=3,
        folds=2,
        seed=1,
        directory=tmp_path,
    )
    tuner.oracle.verbose = 0
    x = np.random.default_rng(0).normal(size=(12, 3))

    tuner.search(x, np.arange(12) % 2, epochs=1)

    values = [result.values for result in tuner.results()]
    assert {value["activation"] for value in values} == {"VAFActivation", "ReLU"}
    for value in values:
        assert ("k" in value) == (value["activation"] == "VAFActivation")
    chosen = kinds(tuner.refit_best())[0]
    assert chosen in ("VAFActivation", "ReLU")


@pytest.mark.parametrize("names", [(), "ReLU", ("ReLU", "Maxout")])
def test_names_that_are_none_are_refused(model, names):
    with pytest.raises(ValueError, match="Received: activations="):
        hypermodel(model, activations=names)


def test_a_model_without_activations_is_refused(tmp_path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")

    with pytest.raises(ValueError, match="Received"):
        CrossValidated(keras_tuner.RandomSearch)(
            hypermodel(model), objective="val_loss", directory=tmp_path
        )
