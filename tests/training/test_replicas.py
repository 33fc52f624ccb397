"""Networks with convolutions and dropout: one at a time, together, and again."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.models import cnet
from keras_vaf.training.member import Replica
from keras_vaf.training.replicas import ReplicaTrainer

ROWS = 20


def network(dropout, seed=0):
    return cnet(
        (6, 6, 1),
        (3, 2),
        outputs=2,
        activation=lambda: VAFActivation(initialization="relu"),
        seed=seed,
        pool_size=2,
        dropout=dropout,
    )


def compiled(dropout):
    model = network(dropout)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.02, momentum=0.9), loss)
    return model


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(ROWS, 6, 6, 1)).astype("float32"), np.arange(ROWS) % 2


def replicas(seeds):
    rows = np.arange(ROWS)
    return [
        Replica(
            network(0.0, seed).get_weights(),
            np.delete(rows, rows[seed::5]),
            rows[seed::5],
            seed=seed,
        )
        for seed in seeds
    ]


def train(seeds, width=1, dropout=0.5, epochs=2):
    trainer = ReplicaTrainer(compiled(dropout), batch_size=8, width=width)
    return trainer.train(*data(), replicas(seeds), epochs)


def check_equal(trained, expected, **tolerance):
    for one, other in zip(trained, expected, strict=True):
        for name, values in one.history.metrics.items():
            np.testing.assert_allclose(values, other.history.metrics[name], **tolerance)
        for weight, weight_too in zip(one.weights, other.weights, strict=True):
            np.testing.assert_allclose(weight, weight_too, **tolerance)


def test_dropout_depends_on_the_seed_and_not_on_what_was_trained_before():
    [replica] = replicas([1])
    other = dataclasses.replace(replica, seed=2)

    def train_together(*wanted):
        return ReplicaTrainer(compiled(0.5), ROWS).train(*data(), wanted, epochs=2)

    first, second = train_together(replica, other)

    check_equal(train_together(other), [second], rtol=0, atol=0)
    # Equal weights, and all rows in one update: only dropout differs.
    assert first.history.metrics["loss"][0] != second.history.metrics["loss"][0]


@pytest.mark.backend("jax")
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_convolutions_trained_together_are_those_trained_one_by_one(dropout):
    together = train([1, 2, 3], width=3, dropout=dropout)
    alone = train([1, 2, 3], width=1, dropout=dropout)

    assert {each.history.replicas for each in together} == {3}
    check_equal(together, alone, atol=1e-5)
