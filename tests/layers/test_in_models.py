"""The layer wherever Keras takes one: models, wrappers, recurrent cells, devices."""

import contextlib

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.regularizers import SlopeVariation


def vaf(**arguments):
    return VAFActivation(initialization=RandomStart(seed=0), **arguments)


class Subclassed(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden, self.activation = layers.Dense(4), vaf(sharing="neuron")

    def call(self, x):
        return self.activation(self.hidden(x))


def convolutional():
    last = {"data_format": "channels_last"}
    return [layers.Conv2D(4, 3, **last), vaf(sharing="channel", **last)]


def shared_by_two_places():
    activation = vaf()
    return [layers.Dense(5), activation, layers.Dense(4), activation]


def bidirectional():
    cell = layers.SimpleRNN(4, activation=vaf(), return_sequences=True)
    return [layers.Bidirectional(cell)]


# The shape of an input with unknown sizes and without, and the layers of a model.
MODELS = {
    "dense": ((6,), (6,), lambda: [layers.Dense(4), vaf()]),
    "subclassed": ((6,), (6,), lambda: [Subclassed()]),
    "given to Dense": ((6,), (6,), lambda: [layers.Dense(4, activation=vaf())]),
    "convolutional": ((None, None, 3), (5, 4, 3), convolutional),
    "shared by two places": ((6,), (6,), shared_by_two_places),
    "bidirectional": ((3, 6), (3, 6), bidirectional),
    "recurrent": ((None, 6), (3, 6), lambda: [layers.GRU(4, activation=vaf(g="tanh"))]),
}


def activations(model):
    """Every VAF of a model, however deep."""
    return [part for part in model._flatten_layers() if isinstance(part, VAFActivation)]


@pytest.mark.parametrize("name", MODELS)
def test_models_train_every_weight(name):
    open_shape, shape, make = MODELS[name]
    inputs = outputs = keras.Input(open_shape)
    for layer in make():
        outputs = layer(outputs)
    model = keras.Model(inputs, outputs)
    random = np.random.default_rng(0)
    x = random.normal(size=(8, *shape)).astype("float32")
    y = random.normal(size=model(x).shape).astype("float32")
    found = activations(model)
    assert found
    before = [a.get_weights() for a in found]
    model.compile(keras.optimizers.SGD(0.01), "mse")
    losses = [model.train_on_batch(x, y) for _ in range(4)]
    assert losses[-1] < losses[0]
    for activation, weights in zip(found, before, strict=True):
        assert len(activation.trainable_weights) == 4
        for a, b in zip(activation.get_weights(), weights, strict=True):
            assert np.any(a != b)


NESTINGS = {
    "Sequential": lambda a: keras.Sequential([keras.Sequential([a])]),
    "Dense": lambda a: keras.Sequential([layers.Dense(2, activation=a)]),
    "TimeDistributed": lambda a: keras.Sequential([layers.TimeDistributed(a)]),
    "GRU": lambda a: keras.Sequential([layers.GRU(2, activation=a)]),
}


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("own", [None, "l1"])
def test_the_penalty_on_the_function_counts_once(nesting, own):
    activation = VAFActivation(
        initialization="relu",
        function_regularizer=SlopeVariation(0.5),
        beta_bias_regularizer=own,
    )
    model = NESTINGS[nesting](activation)
    x = np.zeros((2, 3, 2), "float32")
    y = model(x)
    alpha, _, beta, beta_bias = activation.get_weights()
    penalty = 0.5 * np.sum(abs(alpha * beta))
    if own:
        penalty += 0.01 * abs(beta_bias)
    assert ops.convert_to_numpy(sum(model.losses)) == pytest.approx(penalty)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    target = ops.convert_to_numpy(y)
    assert model.train_on_batch(x, target) == pytest.approx(penalty, 1e-5)
    assert model.evaluate(x, target, verbose=0) == pytest.approx(penalty, 1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float16"])
def test_lower_precision_trains(policy):
    dtype = keras.DTypePolicy(policy)
    inputs = keras.Input((6,), dtype=dtype.compute_dtype)
    activation = vaf(dtype=dtype)
    x = activation(layers.Dense(4, dtype=dtype)(inputs))
    model = keras.Model(inputs, layers.Dense(1, dtype="float32")(x))
    assert x.dtype == dtype.compute_dtype
    assert {w.dtype for w in activation.weights} == {"float32"}
    before = activation.get_weights()
    model.compile(keras.optimizers.SGD(0.01), "mse")
    data = np.random.default_rng(0).normal(size=(8, 6)).astype("float32")
    model.fit(data, np.ones((8, 1)), verbose=0)
    for a, b in zip(activation.get_weights(), before, strict=True):
        assert np.all(np.isfinite(a)) and np.any(a != b)


def moved(model, activation):
    """Train a model for a step, and return how far the activation's weights moved."""
    x = np.random.default_rng(0).normal(size=(8, 6)).astype("float32")
    before = activation.get_weights()
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(x, x[:, :4], shuffle=False, verbose=0)
    pairs = zip(before, activation.get_weights(), strict=True)
    return [new - old for old, new in pairs]


REMAT = {"list_of_layers": {"layer_names": ["vaf"]}, "activations": {}}
if keras.backend.backend() != "tensorflow":  # there Keras's own PReLU fails, too
    REMAT |= {"full": {}, "larger_than": {"output_size_threshold": 1}}


@pytest.mark.parametrize("mode", REMAT)
def test_rematerialization_trains_the_same(mode):
    found = []
    for scope in (keras.RematScope(mode=mode, **REMAT[mode]), contextlib.nullcontext()):
        keras.utils.set_random_seed(0)
        with scope:
            activation = VAFActivation(name="vaf")
            stack = [keras.Input((6,)), layers.Dense(4), activation]
            found.append(moved(keras.Sequential(stack), activation))
    for remat, plain in zip(*found, strict=True):
        np.testing.assert_allclose(remat, plain, 1e-4, 1e-6)
    assert any(np.any(each) for each in found[0])
