"""Paths of weights are unique and include the layer that holds an activation."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import ActivationEnsemble, VAFActivation

L = keras.layers


@keras.saving.register_keras_serializable(package="tests")
class Several(L.Layer):
    """A layer with a list of activations, and no weights of its own."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = keras.activations.get(activation)
        dense = L.Dense(3, activation=vaf(), name="dense")
        self.others = [VAFActivation(name="other"), dense]

    def build(self, shape):
        for layer in (self.activation, *self.others):
            layer.build(shape)

    def call(self, x):
        for layer in (self.activation, *self.others):
            x = layer(x)
        return x

    def compute_output_shape(self, shape):
        return (*shape[:-1], 3)

    def get_config(self):
        activation = keras.saving.serialize_keras_object(self.activation)
        return {**super().get_config(), "activation": activation}


def vaf(**arguments):
    return VAFActivation(k=2, name="act", **arguments)


def host_of(kind, *arguments):
    return lambda act, **named: kind(*arguments, activation=act, **named)


def cells(act, **named):
    first = L.LSTMCell(3, activation=act, name="first")
    second = L.GRUCell(3, activation=vaf(), name="second")
    return L.RNN(L.StackedRNNCells([first, second], name="cells"), **named)


def bidirectional(act, **named):
    return L.Bidirectional(L.LSTM(3, activation=act, name="inner"), **named)


def time_distributed(act, **named):
    return L.TimeDistributed(L.Dense(3, activation=act, name="inner"), **named)


def nested(act, **named):
    inner = L.Dense(3, name="inner")
    return keras.Sequential([keras.Input((4, 3)), inner, act], **named)


# The rank of a sample, and a function that makes a layer with a given activation.
HOSTS = {
    "Activation": (2, lambda act, **named: L.Activation(act, **named)),
    "Dense": (1, host_of(L.Dense, 3)),
    "EinsumDense": (2, host_of(L.EinsumDense, "ijk,kl->ijl", (None, 3))),
    "Conv1D": (2, host_of(L.Conv1D, 3, 2)),
    "Conv2D": (3, host_of(L.Conv2D, 3, 2)),
    "Conv3D": (4, host_of(L.Conv3D, 3, 2)),
    "Conv1DTranspose": (2, host_of(L.Conv1DTranspose, 3, 2)),
    "Conv2DTranspose": (3, host_of(L.Conv2DTranspose, 3, 2)),
    "Conv3DTranspose": (4, host_of(L.Conv3DTranspose, 3, 2)),
    "DepthwiseConv1D": (2, host_of(L.DepthwiseConv1D, 2)),
    "DepthwiseConv2D": (3, host_of(L.DepthwiseConv2D, 2)),
    "SeparableConv1D": (2, host_of(L.SeparableConv1D, 3, 2)),
    "SeparableConv2D": (3, host_of(L.SeparableConv2D, 3, 2)),
    "LSTM": (2, host_of(L.LSTM, 3)),
    "GRU": (2, host_of(L.GRU, 3)),
    "SimpleRNN": (2, host_of(L.SimpleRNN, 3)),
    "ConvLSTM1D": (3, host_of(L.ConvLSTM1D, 3, 2)),
    "cells": (2, cells),
    "Bidirectional": (2, bidirectional),
    "TimeDistributed": (2, time_distributed),
    "nested model": (2, nested),
    "several": (2, Several),
}
# Keras loads the layers inside of these with paths that lack the wrapper.
WRAPPERS = {"cells", "Bidirectional", "TimeDistributed", "nested model"}


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


def paths(model):
    return [variable.path for variable in model.variables]


def run(model, x):
    return [keras.ops.convert_to_numpy(y) for y in model(x)]


def check(model):
    found = paths(model)
    assert len(set(found)) == len(found)
    own = [path for path in found if "seed_generator" not in path]
    assert all({"one", "two"} & {*path.split("/")} for path in own)
    return sum("/act/" in path for path in own)


@pytest.mark.parametrize("host", HOSTS)
def test_paths_are_unique_and_contain_the_outer_layer(host):
    model, _ = make(host)
    assert check(model) >= 8
    model.compile("adam", "mse")
    assert model.get_state_tree().keys() >= {"trainable_variables"}


@pytest.mark.parametrize("sharing", ["layer", "channel"])
@pytest.mark.parametrize("host", ["Dense", "Activation", "Bidirectional", "several"])
def test_a_call_changes_no_path(host, sharing):
    model, x = make(host, sharing)
    before = paths(model)
    run(model, x)
    assert check(model) >= 8
    if sharing == "layer":  # the weights exist before the first call
        assert before == paths(model)


@pytest.mark.backend("torch")
@pytest.mark.parametrize("host", HOSTS)
def test_a_state_tree_carries_a_state_into_a_model_that_was_never_called(host):
    model, x = make(host)
    model.set_weights([weight + 0.1 for weight in model.get_weights()])
    expected = run(model, x)
    other, _ = make(host)
    for each in (model, other):
        each.compile("adam", "mse")
    tree = model.get_state_tree(value_format="numpy_array")
    other.set_state_tree(tree)
    for found, y in zip(run(other, x), expected, strict=True):
        np.testing.assert_array_equal(found, y)


@pytest.mark.backend("torch")
@pytest.mark.parametrize("host", HOSTS)
def test_a_saved_model_is_equal(host, tmp_path):
    model, x = make(host)
    model.set_weights([weight + 0.1 for weight in model.get_weights()])
    model.save(tmp_path / "model.keras")
    again = keras.saving.load_model(tmp_path / "model.keras")
    if host not in WRAPPERS:
        check(again)
    for found, y in zip(run(again, x), run(model, x), strict=True):
        np.testing.assert_array_equal(found, y)


def check_modules(model):
    """Check that each layer has its weights as parameters, by their paths."""
    for layer in model._flatten_layers():
        assert {*layer.torch_params} == {variable.path for variable in layer.variables}


@pytest.mark.backend("torch")
@pytest.mark.parametrize("host", HOSTS)
def test_a_module_of_torch_is_complete_and_its_names_stay(host):
    model, x = make(host)
    names = list(model.state_dict())
    check_modules(model)
    run(model, x)
    assert list(model.state_dict()) == names
    other = make(host)[0]
    assert set(names) >= {n for n in other.state_dict() if "seed_generator" not in n}


@pytest.mark.backend("torch")
@pytest.mark.parametrize("host", HOSTS)
def test_a_module_of_torch_is_complete_after_a_call(host):
    """Activations that are not shared per layer have no weights before."""
    model, x = make(host, "channel")
    run(model, x)
    check_modules(model)
    parameters = {id(parameter) for parameter in model.parameters()}
    assert {id(weight.value) for weight in model.trainable_weights} <= parameters


def test_optimizer_variables_have_unique_paths_too():
    model, _ = make("Bidirectional")
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    found = [variable.path for variable in optimizer.variables]
    assert len(set(found)) == len(found)


def test_alone_and_with_weights_that_are_not_trained():
    layer = ActivationEnsemble(sharing="layer", name="ensemble")
    layer.build((None, 2))
    assert {weight.path.split("/")[0] for weight in layer.weights} == {"ensemble"}
    assert len({weight.path for weight in layer.weights}) == 5
