"""Small training runs, and what it means that two of them are equal."""

import keras
import numpy as np

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.training import NetworkRun, Trainer
from keras_vaf.training.data import to_arrays

ROWS = 30


def data(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 3))
    y = np.tanh(x @ rng.normal(size=(3, 2))) + 0.1 * rng.normal(size=(ROWS, 2))
    return to_arrays("data", (x, y))


def network(seed=0, optimizer=None):
    layers = [
        keras.Input((3,)),
        keras.layers.Dense(
            4,
            "tanh",
            kernel_initializer=PortableGlorotUniform(seed),
            kernel_regularizer=keras.regularizers.L2(0.01),
        ),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(2, kernel_initializer=PortableGlorotUniform(seed + 1)),
    ]
    model = keras.Sequential(layers)
    model.compile(optimizer or keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    return model


def rows(seed=0):
    order = np.random.default_rng(seed).permutation(ROWS)
    return order[:20], order[20:28]


def train_seeds(seeds, width=1, epochs=8, batch_size=6, rates=None, patience=None):
    """Train the networks of these seeds, and return their histories and weights."""
    runs = [
        NetworkRun(network(seed).get_weights(), *rows(seed), seed, rate)
        for seed, rate in zip(seeds, rates or [0.1] * len(seeds), strict=True)
    ]
    trainer = Trainer(network(), batch_size, patience, width=width)
    return trainer.train_runs(data(), runs, epochs)


def check_equal_histories(one, other, **tolerance):
    assert one.stopped == other.stopped
    assert one.best_epoch == other.best_epoch
    assert set(one.metrics) == set(other.metrics)
    for name, values in one.metrics.items():
        np.testing.assert_allclose(values, other.metrics[name], **tolerance)


def check_equal(trained, expected, **tolerance):
    for one, other in zip(trained, expected, strict=True):
        check_equal_histories(one.history, other.history, **tolerance)
        for weight, value in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(weight, value, **tolerance)
