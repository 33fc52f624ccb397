"""Small training runs, and what it means that two of them are equal."""

import keras
import numpy as np

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.training import TrainingRun

ROWS = 30


def data(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(ROWS, 3))
    return x, np.tanh(x @ rng.normal(size=(3, 2))) + 0.1 * rng.normal(size=(ROWS, 2))


def network(seed=0, optimizer=None, units=4):
    layers = [
        keras.Input((3,)),
        keras.layers.Dense(
            units,
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


def rows(seed=0, training=20):
    order = np.random.default_rng(seed).permutation(ROWS)
    return order[:training], order[training:28]


def make_run(seed=0, optimizer=None, units=4, training=20, build=None):
    model = network(seed, optimizer, units)
    return TrainingRun(model, *rows(seed, training), seed=seed, build=build)


def check_equal_histories(one, other, **tolerance):
    assert one.stopped == other.stopped
    assert one.best_epoch == other.best_epoch
    assert set(one.metrics) == set(other.metrics)
    for name, values in one.metrics.items():
        np.testing.assert_allclose(values, other.metrics[name], **tolerance)


def check_equal_weights(weights, others, **tolerance):
    for one, other in zip(weights, others, strict=True):
        np.testing.assert_allclose(one, other, **tolerance)
