"""Many trainings together: as each alone, whatever the neighbours."""

import keras
import numpy as np
import pytest

from keras_vaf.optimizers import Rprop
from keras_vaf.training import Member, train, train_many
from tests.training.members import (
    ROWS,
    check_equal_histories,
    check_equal_weights,
    data,
    member,
    network,
    rows,
)


def alone(one, epochs, batch_size, **arguments):
    """Train a member's model by itself, on its rows."""
    x, y = data()
    return train(
        one.model,
        x[one.training],
        y[one.training],
        (x[one.validation], y[one.validation]),
        epochs,
        batch_size,
        seed=one.seed,
        **arguments,
    )


def different_members():
    """Return trainings that differ in rate, width, rows or optimizer."""
    return [
        member(0, keras.optimizers.SGD(0.1)),
        member(1, keras.optimizers.SGD(0.01)),
        member(2, units=5),
        member(3, training=17),
        member(4, Rprop(0.05)),
        member(5, keras.optimizers.Adam(0.01)),
    ]


def test_members_train_as_they_would_alone():
    members, twins = different_members(), different_members()
    histories = train_many(members, *data(), epochs=5, batch_size=6)
    for one, history, twin in zip(members, histories, twins, strict=True):
        check_equal_histories(history, alone(twin, 5, 6), atol=1e-5)
        check_equal_weights(one.model, twin.model, atol=1e-5)


def test_members_of_one_build_train_as_they_would_alone():
    def members():
        return [member(seed, build="a") for seed in range(3)]

    together, apart = members(), members()
    histories = train_many(together, *data(), epochs=20)
    for one, history, twin in zip(together, histories, apart, strict=True):
        check_equal_histories(history, alone(twin, 20, None), atol=1e-5)
        check_equal_weights(one.model, twin.model, atol=1e-5)


def test_a_model_without_input_shape_is_built():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    [history] = train_many([Member(model, *rows())], *data(), epochs=2)
    assert history.epochs == 2


def test_early_stopping_is_each_members_own():
    def members():
        return [member(seed, keras.optimizers.SGD(0.3)) for seed in range(4)]

    histories = train_many(members(), *data(), epochs=30, patience=2)
    assert len({history.epochs for history in histories}) > 1
    for one, history in zip(members(), histories, strict=True):
        check_equal_histories(history, alone(one, 30, None, patience=2), atol=1e-4)


def test_one_that_is_not_finite_leaves_the_others_alone():
    rates = [0.1, 1e4, 0.1]
    members = [
        member(seed, keras.optimizers.SGD(rate)) for seed, rate in enumerate(rates)
    ]
    good, bad, _ = histories = train_many(members, *data(), epochs=40)
    stopped = [history.stopped for history in histories]
    assert stopped == ["epochs", "not finite", "epochs"]
    assert (good.epochs, bad.epochs < 40) == (40, True)
    for one in members:
        assert np.all([np.isfinite(weight).all() for weight in one.model.get_weights()])


def test_progress_counts_all_epochs():
    seen = []
    members = [member(seed) for seed in range(3)]
    train_many(members, *data(), 5, on_progress=lambda *counts: seen.append(counts))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (15, 15)
    assert {total for _, total in seen} == {15}


@pytest.mark.backend("tensorflow", "torch")
def test_only_jax_trains_together():
    with pytest.raises(ValueError, match="on JAX only: use `replicas=1`"):
        train_many([member()], *data(), epochs=1, replicas=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "Received: epochs=0"),
        ({"batch_size": 0}, "Received: batch_size=0"),
        ({"replicas": 0}, "Received: replicas=0"),
        ({"replicas": "all"}, "Received: replicas='all'"),
        ({"monitor": "val_accuracy"}, "Received: monitor='val_accuracy'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_many([member()], *data(), **{"epochs": 1, **arguments})


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (np.array([0, ROWS]), f"Received: indices from 0 to {ROWS}"),
        (np.array([-1, 1]), "Received: indices from -1 to 1"),
        (np.array([], int), r"Received: an array of shape \(0,\) and dtype int64"),
        (np.array([0.5]), r"Received: an array of shape \(1,\) and dtype float64"),
        (np.ones((2, 2), int), r"Received: an array of shape \(2, 2\)"),
    ],
)
def test_bad_rows(indices, message):
    with pytest.raises(ValueError, match=message):
        train_many([Member(network(), indices, np.arange(3))], *data(), epochs=1)
    with pytest.raises(ValueError, match="`validation` must be"):
        train_many([Member(network(), np.arange(3), indices)], *data(), epochs=1)


def test_a_model_that_is_not_compiled():
    model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(ValueError, match="The model has no loss"):
        train_many([Member(model, *rows())], *data(), epochs=1)
