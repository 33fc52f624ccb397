"""Only the activations of a model are trained."""

import keras
import numpy as np
import pytest

from keras_vaf.layers import ActivationEnsemble, VAFActivation
from keras_vaf.models import train_only_activations

layers = keras.layers


def make_model():
    inner = keras.Sequential(
        [keras.Input((6,)), layers.Dense(6), VAFActivation(name="vaf")], name="inner"
    )
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(6, activation=VAFActivation(sharing="channel", name="a")),
            layers.BatchNormalization(),
            inner,
            ActivationEnsemble(name="ensemble"),
            layers.Dropout(0.0, name="dropout"),
            layers.Dense(2, name="head"),
        ]
    )
    model(np.zeros((1, 4), "float32"))
    return model


def trained(model):
    """Return the paths of the weights that training changes."""
    model.compile(keras.optimizers.SGD(0.1), "mse")
    before = values(model)
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    model.fit(x, np.ones((32, 2)), epochs=2, verbose=0)
    after = values(model)
    triples = zip(model.weights, before, after, strict=True)
    return {w.path for w, old, new in triples if not np.array_equal(old, new)}


def values(model):
    return [keras.ops.convert_to_numpy(w.value).copy() for w in model.weights]


def of_activations(model):
    names = ("/a/", "vaf/", "ensemble/")
    return {w.path for w in model.weights if any(n in f"/{w.path}" for n in names)}


def test_nothing_else_changes():
    model = make_model()
    model.trainable = False
    assert train_only_activations(model, inplace=True) is model
    changed = trained(model)
    assert changed and changed <= of_activations(model)


def test_a_copy_carries_the_activations_by_its_weights(tmp_path):
    model, other = (train_only_activations(make_model()) for _ in range(2))
    trained(model)
    model.save_weights(tmp_path / "model.weights.h5")
    other.load_weights(tmp_path / "model.weights.h5")
    for now, learned in zip(values(other), values(model), strict=True):
        np.testing.assert_array_equal(now, learned)


def test_named_layers_stay_trainable():
    model = train_only_activations(make_model(), also="head")
    changed = trained(model)
    head = {path for path in changed if "head" in path}
    assert len(head) == 2
    assert changed - head <= of_activations(model)


@pytest.mark.parametrize(
    "model, also, message",
    [
        (make_model(), ["haed"], "Did you mean 'head'"),
        (make_model(), ["dropout"], "must be one of .*'head'"),
        (
            keras.Sequential([VAFActivation(sharing="channel")]),
            (),
            "call it on an input",
        ),
    ],
)
def test_wrong_arguments(model, also, message):
    with pytest.raises(ValueError, match=message):
        train_only_activations(model, also)
