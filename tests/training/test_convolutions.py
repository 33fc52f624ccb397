"""Networks with convolutions and dropout: one at a time, together, and again."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.layers import VAFActivation
from keras_vaf.training import NetworkRun, Trainer
from tests.training.runs import check_equal

ROWS = np.arange(20)
DATA = np.random.default_rng(0).normal(size=(20, 6, 6, 1)).astype("float32"), ROWS % 2


def network(seed=0, dropout=0.0):
    kernels = (PortableGlorotUniform(seed=3 * seed + place) for place in range(3))
    layers = [keras.Input((6, 6, 1))]
    for place, filters in enumerate((3, 2)):
        layers += [
            keras.layers.Conv2D(
                filters, 5, padding="same", kernel_initializer=next(kernels)
            ),
            VAFActivation(initialization="relu"),
            keras.layers.MaxPooling2D(2),
            keras.layers.Dropout(dropout, seed=place),
        ]
    last = keras.layers.Dense(2, kernel_initializer=next(kernels))
    return keras.Sequential([*layers, keras.layers.Flatten(), last])


def trainer_of_networks(batch_size, width=1):
    model = network(dropout=0.5)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.02, momentum=0.9), loss)
    trainer = Trainer(model, batch_size, width=width)
    trainer.prepare(DATA)
    return trainer


def run_of(trainer, rows, seed):
    start = trainer.start(network(rows).get_weights(), seed)
    return NetworkRun(start, np.delete(ROWS, ROWS[rows::5]), ROWS[rows::5], seed)


def test_dropout_depends_on_the_seed_and_not_on_earlier_trainings():
    trainer = trainer_of_networks(len(ROWS))
    runs = [run_of(trainer, rows=1, seed=seed) for seed in (1, 2)]

    first, second = trainer.train_runs(DATA, runs, epochs=2)
    again = trainer.train_runs(DATA, runs[::-1], epochs=2)

    check_equal(again, [second, first], rtol=0, atol=0)
    # Equal weights, and all rows in one update: only dropout differs.
    assert first.history.metrics["loss"][0] != second.history.metrics["loss"][0]


@pytest.mark.backend("jax")
def test_convolutions_trained_together_are_those_trained_one_by_one():
    trained = []
    for width in (3, 1):
        trainer = trainer_of_networks(8, width)
        runs = [run_of(trainer, seed, seed) for seed in (1, 2, 3)]
        trained.append(trainer.train_runs(DATA, runs, epochs=2))

    check_equal(*trained, atol=1e-5)
