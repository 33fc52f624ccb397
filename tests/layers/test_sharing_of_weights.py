"""`sharing` as a dictionary: each weight has the entries that it does not share."""

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers, models
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from tests import reference
from tests.harness import to_arrays, to_tensors, vjp

TIED = {"alpha": "layer", "beta": "channel"}
# The sharing, the axes of the functions, and those of each weight.
CASES = [
    (TIED, (3,), [(), (), (3,), ()]),
    ({"alpha": "channel", "beta_bias": (2, 3)}, (1, 3), [(3,), (), (), (1,)]),
    ({"alpha_bias": "neuron"}, (1, 2, 3), [(), (1, 2, 3), (), ()]),
    ({}, (), [(), (), (), ()]),
]
SHAPE = (4, 3, 2, 5)


def random_layer(sharing, g="relu", shape=SHAPE, **arguments):
    layer = VAFActivation(k=3, g=g, sharing=sharing, **arguments)
    layer.build((None, *shape[1:]))
    random = np.random.default_rng(0)
    layer.set_weights([random.normal(size=weight.shape) for weight in layer.weights])
    return layer


def repeated(value, own, unshared, shape):
    """Repeat a weight along the axes of the functions that it does not have."""
    extra = value.shape[len(own) :]
    ones = [shape[axis] if axis in own else 1 for axis in unshared]
    sizes = [shape[axis] for axis in unshared]
    return np.broadcast_to(value.reshape((*ones, *extra)), (*sizes, *extra))


@pytest.mark.parametrize("g", ["relu", "tanh"])
@pytest.mark.parametrize("sharing, unshared, of_weights", CASES)
def test_values_and_gradients_match_the_reference(g, sharing, unshared, of_weights):
    layer = random_layer(sharing, g)
    weights = layer.get_weights()
    for weight, own, extra in zip(weights, of_weights, (3, 3, 3, None), strict=True):
        sizes = tuple(SHAPE[axis] for axis in own)
        assert weight.shape == sizes + ((extra,) if extra else ())
    full = [
        repeated(w.astype("float64"), own, unshared, SHAPE)
        for w, own in zip(weights, of_weights, strict=True)
    ]
    random = np.random.default_rng(1)
    x, upstream = random.normal(size=(2, *SHAPE)).astype("float32")
    value, found = vjp(
        lambda x, *weights: layer.stateless_call(list(weights), [], x)[0],
        tuple(to_tensors([x, *weights])),
        *to_tensors([upstream]),
    )
    expected = reference.vaf(x, *full, g, unshared)
    np.testing.assert_allclose(*to_arrays([value]), expected, 1e-4, 1e-4)
    wanted = reference.vaf_gradients(upstream, x, *full, g, unshared)
    for have, want, own in zip(
        to_arrays(found), wanted, ["x", *of_weights], strict=True
    ):
        if own != "x":
            gone = [i for i, axis in enumerate(unshared) if axis not in own]
            want = want.sum(axis=tuple(gone))
        np.testing.assert_allclose(have, want, 1e-3, 1e-3)
    y = layer.function(0.7)
    assert y.shape == tuple(SHAPE[axis] for axis in unshared)
    np.testing.assert_allclose(
        y, reference.vaf(np.full(y.shape, 0.7), *full, g, tuple(range(y.ndim))), 1e-5
    )


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("initialization", ["g", "gelu", RandomStart(seed=0)])
def test_every_start(initialization):
    layer = VAFActivation(k=4, sharing=TIED, initialization=initialization)
    layer.build((None, 5))
    one = VAFActivation(k=4, initialization=initialization)
    x = np.linspace(-3, 3, 13)
    np.testing.assert_array_equal(layer.get_weights()[0], one.get_weights()[0])
    if initialization in ("g", "gelu"):
        expected = np.repeat(one.function(x)[:, None], 5, axis=1)
        np.testing.assert_array_equal(layer.function(x), expected)
    else:
        assert len(np.unique(layer.function(2.0))) == 5


@pytest.mark.backend("tensorflow")
def test_configuration_names_every_weight_and_reloads(tmp_path):
    layer = random_layer({"beta": ("channel"), "alpha": (1, -1)}, shape=(2, 3, 4))
    assert layer.get_config()["sharing"] == {
        "alpha": (1, -1),
        "alpha_bias": "layer",
        "beta": "channel",
        "beta_bias": "layer",
    }
    model = keras.Sequential([keras.Input((3, 4)), layer])
    model.save(tmp_path / "model.keras")
    x = np.random.default_rng(2).normal(size=(2, 3, 4)).astype("float32")
    for again in (
        keras.saving.load_model(tmp_path / "model.keras"),
        keras.models.clone_model(model),
        keras.models.model_from_json(model.to_json()),
    ):
        again.set_weights(model.get_weights())
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (again(x), model(x))))


@pytest.mark.backend("tensorflow")
def test_tools_take_such_layers():
    x = np.random.default_rng(3).normal(size=(20, 5)).astype("float32")
    layer = random_layer(TIED, shape=(None, 5))
    model = keras.Sequential([keras.Input((5,)), layer])
    expected = ops.convert_to_numpy(model(x))
    vaf = models.to_vaf(layer)
    assert [tuple(w.shape) for w in vaf.weights] == [(5, 3)] * 3 + [(5,)]
    simpler = models.simplify(model, tolerance=1e-4)
    assert simpler.layers[0].k <= 3
    for same in (vaf, models.freeze(model), simpler):
        y = ops.convert_to_numpy(same(x))
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-3)
    assert len(models.formula(layer, "python", 17).split("def ")) == 6
    assert models.formula(layer, digits=17).count("\n") == 6


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "kind, sharing, message",
    [
        (VAFActivation, {"beat": "layer"}, "Did you mean 'beta'.*Received"),
        (VAFActivation, {"beta": "rows"}, "Received: sharing='rows'"),
        (layers.ActivationEnsemble, {"alpha": "channel"}, "same for all weights"),
    ],
)
def test_bad_dictionaries(kind, sharing, message):
    with pytest.raises(ValueError, match=message):
        kind(sharing=sharing)
