"""A VAF with more hidden units is the same function, and can learn more."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.models import convert, grow, report
from tests.models.networks import inputs_of, outputs_of, scatter, sequential

X = np.linspace(-5, 5, 101)


def vaf(sharing="layer", **arguments):
    layer = VAFActivation(
        sharing=sharing, initialization=RandomStart(seed=0), name="vaf", **arguments
    )
    layer.build((None, 4, 2))
    return layer


@pytest.mark.parametrize("sharing", ["layer", "channel", "neuron", (1,)])
@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_the_function_stays(sharing, g):
    layer = vaf(sharing, g=g)
    grown = grow(layer, 7)
    np.testing.assert_allclose(grown.function(X), layer.function(X), rtol=1e-6)
    assert grown.k == 7 and grown.alpha.shape == (*layer.alpha.shape[:-1], 7)
    assert (grown.name, grown.sharing) == (layer.name, layer.sharing)


def test_new_units_are_live():
    """They differ from each other and from those there were, and get gradients."""
    layer = VAFActivation(k=3, initialization="relu")
    grown = grow(layer, 6)
    alpha, alpha_bias, beta, _ = grown.get_weights()
    assert len(set(zip(alpha, alpha_bias, strict=True))) == 6
    assert np.all(beta[3:] == 0)
    model = keras.Sequential([keras.Input((1,)), grown])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    x = np.random.default_rng(0).normal(size=(64, 1))
    model.train_on_batch(x, np.sin(3 * x))
    assert np.all(np.abs(grown.get_weights()[2][3:]) > 1e-5)


def test_all_vafs_of_a_model_grow(tmp_path):
    model = scatter(convert(sequential(), sharing="channel"))
    grown = grow(model, 5)
    x = inputs_of(model)
    for new, old in zip(outputs_of(grown, x), outputs_of(model, x), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
    added = grown.count_params() - model.count_params()
    assert report(grown).parameters == added == 2 * 3 * (5 + 5 + 4)
    grown.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        loaded.layers[1].get_weights()[0], grown.layers[1].get_weights()[0]
    )


def test_one_given_to_a_layer_becomes_a_layer():
    hidden = keras.layers.Dense(3, activation=vaf(), name="hidden")
    model = keras.Sequential([keras.Input((2,)), hidden, KAF(D=3, name="kaf")])
    grown = grow(model, 4)
    names = [layer.name for layer in grown.layers]
    assert names == ["hidden", "hidden_activation", "kaf"]
    x = inputs_of(model)
    np.testing.assert_allclose(outputs_of(grown, x), outputs_of(model, x), rtol=1e-5)
    assert [kept.layer for kept in report(grown).kept] == ["kaf"]
    assert report(grown).parameters == grown.count_params() - model.count_params() == 3


@pytest.mark.parametrize(
    ("make", "k", "message"),
    [
        (vaf, 2, r"'vaf' has 3 hidden units: expected k >= 3\. Received: k=2"),
        (lambda: convert(sequential()), 2, "'fused_activation' has 3.*k=2"),
        (sequential, 5, "Expected a model with a trainable activation"),
        (lambda: VAFActivation(sharing="channel"), 5, "has no weights yet"),
    ],
    ids=["layer", "model", "none", "unbuilt"],
)
def test_bad_input_is_told(make, k, message):
    with pytest.raises(ValueError, match=message):
        grow(make(), k)
