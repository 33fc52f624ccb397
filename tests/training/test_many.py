"""Many training runs: each gives the result that it gives alone."""

import keras
import numpy as np
import pytest

from keras_vaf.optimizers import Rprop
from keras_vaf.training import TrainingRun, train, train_many
from tests.training.runs import (
    ROWS,
    check_equal_histories,
    check_equal_weights,
    data,
    make_run,
    network,
    rows,
)


def check_trained_as_alone(make_runs, epochs, batch_size=None, **arguments):
    """Train runs together and one by one, compare them and return the histories."""
    x, y = data()
    runs = make_runs()
    histories = train_many(runs, x, y, epochs, batch_size, **arguments)
    for run, history, twin in zip(runs, histories, make_runs(), strict=True):
        training, validation = twin.training, twin.validation
        alone = train(
            twin.model,
            x[training],
            y[training],
            (x[validation], y[validation]),
            epochs,
            batch_size,
            seed=twin.seed,
            **arguments,
        )
        check_equal_histories(history, alone, atol=1e-4)
        weights = run.model.get_weights(), twin.model.get_weights()
        check_equal_weights(*weights, atol=1e-5)
    return histories


@pytest.mark.backend("jax")
def test_only_equal_programs_are_trained_together():
    def make_runs():
        return [
            make_run(0, keras.optimizers.SGD(0.1)),
            make_run(1, keras.optimizers.SGD(0.01)),
            make_run(2, units=5),
            make_run(3, training=17),
            make_run(4, Rprop(0.05)),
        ]

    check_trained_as_alone(make_runs, epochs=5, batch_size=6)


def test_early_stopping_is_each_runs_own():
    def make_runs():
        return [make_run(seed, keras.optimizers.SGD(0.3)) for seed in (1, 2)]

    histories = check_trained_as_alone(make_runs, epochs=30, patience=2)
    assert len({history.epochs for history in histories}) > 1


def test_runs_of_one_build_share_a_program_but_no_state():
    def make_runs():
        runs = [make_run(seed, "adam", build="a") for seed in range(2)]
        train_many(runs[1:], *data(), epochs=2)  # its optimizer has a state
        runs[0].model.optimizer.learning_rate = 0.1
        return runs

    check_trained_as_alone(make_runs, epochs=4)


def test_a_model_without_input_shape_is_built():
    model = keras.Sequential([keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    [history] = train_many([TrainingRun(model, *rows())], *data(), epochs=2)
    assert history.epochs == 2


def test_one_that_is_not_finite_leaves_the_others_alone():
    rates = [0.1, 1e4, 0.1]
    runs = [
        make_run(seed, keras.optimizers.SGD(rate), build=0)
        for seed, rate in enumerate(rates)
    ]
    seen = []
    histories = train_many(
        runs, *data(), epochs=40, on_progress=lambda *counts: seen.append(counts)
    )

    stopped = [history.stopped for history in histories]
    assert stopped == ["epochs", "not finite", "epochs"]
    assert histories[0].epochs == 40 > histories[1].epochs
    for run in runs:
        assert np.all([np.isfinite(weight).all() for weight in run.model.get_weights()])
    # Progress counts the epochs of all runs.
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (120, 120)
    assert {total for _, total in seen} == {120}


@pytest.mark.backend("tensorflow", "torch")
def test_only_jax_trains_together():
    with pytest.raises(ValueError, match="only on JAX: use `replicas=1`"):
        train_many([make_run()], *data(), epochs=1, replicas=2)


@pytest.mark.backend("tensorflow")
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
        train_many([make_run()], *data(), **{"epochs": 1, **arguments})


@pytest.mark.backend("tensorflow")
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
    good = np.arange(3)
    with pytest.raises(ValueError, match=message):
        train_many([TrainingRun(network(), indices, good)], *data(), epochs=1)
    with pytest.raises(ValueError, match="`validation` must be"):
        train_many([TrainingRun(network(), good, indices)], *data(), epochs=1)


@pytest.mark.backend("tensorflow")
def test_a_model_that_is_not_compiled():
    model = keras.Sequential([keras.layers.Dense(1)])
    with pytest.raises(
        ValueError, match=r"Expected a model with a loss.*Received: model="
    ):
        train_many([TrainingRun(model, *rows())], *data(), epochs=1)
