"""Activations of one name inside other layers: each counts, and has its own weights.

A module of PyTorch lists its weights by their paths, which Keras gives them before it
knows the layer around an activation.
"""

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.activation_inputs import activation_inputs
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import formula, freeze, report, simplify, train_only_activations
from keras_vaf.models.graphs.checks import check_finite_weights
from keras_vaf.optimizers import activations_apart

L = keras.layers


def vaf(**arguments):
    return VAFActivation(k=2, name="act", **arguments)


def host_of(kind, *arguments):
    return lambda act, **named: kind(*arguments, activation=act, **named)


def cells(act, **named):
    first = L.LSTMCell(3, activation=act, name="first")
    second = L.GRUCell(3, activation=VAFActivation(name="other"), name="second")
    return L.RNN(L.StackedRNNCells([first, second], name="cells"), **named)


def bidirectional(act, **named):
    return L.Bidirectional(L.LSTM(3, activation=act), **named)


def nested(act, **named):
    inner = L.Dense(3, name="inner")
    return keras.Sequential([keras.Input((4, 3)), inner, act], **named)


# The rank of a sample, and a function that makes a layer with a given activation.
HOSTS = {
    "Dense": (1, host_of(L.Dense, 3)),
    "GRU": (2, host_of(L.GRU, 3)),
    "cells": (2, cells),
    "Bidirectional": (2, bidirectional),
    "nested model": (2, nested),
}


def make(host, sharing="layer"):
    """Return a model of two such layers side by side, and an input."""
    rank, layer = HOSTS[host]
    inputs = keras.Input((4,) * (rank - 1) + (3,))
    outputs = []
    for name in ("one", "two"):
        outputs.append(layer(vaf(sharing=sharing), name=name)(inputs))
    model = keras.Model(inputs, outputs, name="model")
    x = np.random.default_rng(0).normal(size=(2, *inputs.shape[1:]))
    return model, x.astype("float32")


def run(model, x):
    return [keras.ops.convert_to_numpy(y) for y in model(x)]


def check(model):
    """Check that PyTorch lists every weight of the activations of a model.

    Keras loads kernels inside of wrappers with paths that lack the wrapper.
    """
    listed = {id(parameter) for parameter in model.parameters()}
    layers = [x for x in model._flatten_layers() if isinstance(x, VAFActivation)]
    assert len(layers) >= 2
    assert {id(weight.value) for layer in layers for weight in layer.weights} <= listed


@pytest.mark.backend("torch")
@pytest.mark.parametrize("host", HOSTS)
def test_every_weight_is_listed_also_of_a_loaded_model(host, tmp_path):
    model, x = make(host, "channel")
    run(model, x)  # which makes the weights
    check(model)
    model, x = make(host)
    check(model)
    names = list(model.state_dict())
    run(model, x)
    check(model)
    assert list(model.state_dict()) == names
    model.set_weights([weight + 0.1 for weight in model.get_weights()])
    expected = run(model, x)
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    check(again)
    for found, y in zip(run(again, x), expected, strict=True):
        np.testing.assert_array_equal(found, y)
    check(keras.models.clone_model(model))


def gates():
    return L.LSTM(3, activation=vaf(), recurrent_activation=vaf())


def stacked():
    return L.RNN([L.LSTMCell(3, activation=vaf()), L.GRUCell(3, activation=vaf())])


class Pair(L.Layer):
    """Two activations of one name. Keras builds them before their outer layer."""

    def __init__(self, sharing="layer", **arguments):
        super().__init__(**arguments)
        self.one, self.two = vaf(sharing=sharing), vaf(sharing=sharing)

    def call(self, inputs):
        return self.one(inputs) + 2 * self.two(inputs)

    def compute_output_shape(self, shape):
        return shape


def pair():
    return keras.Sequential([Pair(), L.Dense(2)])


@pytest.mark.backend("torch")
@pytest.mark.parametrize("make", [gates, stacked, Pair, pair])
def test_two_of_one_name_inside_one_layer_are_listed_apart(make):
    layer = make()
    layer(np.ones((2, 4, 3), "float32"))
    names = [name for name, _ in layer.named_parameters()]
    layer(np.ones((2, 4, 3), "float32"))
    check(layer)
    assert [name for name, _ in layer.named_parameters()] == names
    assert len({weight.path for weight in layer.weights}) == len(layer.weights)


@pytest.mark.parametrize("make", [gates, stacked, pair])
def test_paths_differ_before_the_first_call(make):
    model = keras.Sequential([make()])
    model.compile("adam", "mse")
    tree = model.get_state_tree()["trainable_variables"]
    assert len(keras.tree.flatten(tree)) == len(model.weights) > 0


@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_every_reader_counts_two_of_one_name_as_two(sharing):
    inputs = keras.Input((4,))
    outputs = Pair(sharing, name="pair")(inputs)
    model = keras.Model(inputs, L.Dense(2, name="head")(outputs))
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    paths = ["pair/act", "pair/act_1"]
    assert [*find_layers(model, VAFActivation)] == paths
    assert [*activation_inputs(model, x)] == paths
    assert all(path in str(formula(model)) for path in paths)
    model.compile("adam", "mse")
    tree = model.get_state_tree("numpy_array")["trainable_variables"]
    assert len(keras.tree.flatten(tree)) == len(model.weights)
    optimizer = activations_apart(model, "adam")
    assert sum(optimizer.is_activation) == 8
    tuned = train_only_activations(model, also=["act"], inplace=True)
    assert len(tuned.trainable_weights) == 8
    model.get_layer("pair").two.beta_bias.assign_add(np.nan)
    with pytest.raises(ValueError, match="must be finite"):
        check_finite_weights(model)


@pytest.mark.parametrize("make", [gates, stacked])
def test_each_of_two_of_one_name_is_simplified_and_frozen(make):
    model = keras.Sequential([keras.Input((4, 3)), make()])
    for i, layer in enumerate(find_layers(model, VAFActivation).values()):
        layer.beta.assign(layer.beta * (0.3 + 0.4 * i))
    x = np.random.default_rng(0).normal(size=(8, 4, 3)).astype("float32")
    for made in (simplify(model, 1e-4), freeze(model)):
        assert len(report(made).replaced) == 2
        np.testing.assert_allclose(run(made, x), run(model, x), atol=1e-5)


@pytest.mark.parametrize("sharing", ["layer", "channel"])
def test_inner_models_with_equal_names_have_a_tree_of_states(sharing):
    def inner():
        return keras.Sequential([keras.Input((4,)), L.Dense(3), vaf(sharing=sharing)])

    inputs = keras.Input((4,))
    model = keras.Model(inputs, L.Average()([inner()(inputs), inner()(inputs)]))
    model.compile("adam", "mse")
    tree = model.get_state_tree("numpy_array")["trainable_variables"]
    assert len(keras.tree.flatten(tree)) == len(model.weights)
