"""Many trainings: each gives the result that it gives alone, also as one program."""

import warnings

import keras
import numpy as np
import pytest

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.layers import VAFActivation
from keras_vaf.training import NetworkRun, Trainer, train
from tests.training.runs import (
    check_equal,
    check_equal_histories,
    data,
    network,
    rows,
    train_seeds,
)

jax_only = pytest.mark.backend("jax")


@pytest.mark.parametrize("patience", [None, 2])
def test_each_run_is_what_train_gives(patience):
    seeds, rates = (1, 2), (0.3, 0.1)
    together = train_seeds(seeds, 1, 12, rates=rates, patience=patience)
    for seed, rate, found in zip(seeds, rates, together, strict=True):
        model = network(seed, keras.optimizers.SGD(rate))
        (x, y), (training, validation) = data(), rows(seed)
        held = x[validation], y[validation]
        alone = train(model, x[training], y[training], held, 12, 6, patience, seed=seed)
        check_equal_histories(found.history, alone, atol=1e-4)
        for weight, value in zip(found.weights, model.get_weights(), strict=True):
            np.testing.assert_allclose(weight, value, atol=1e-5)


def test_one_that_is_not_finite_leaves_the_others_alone():
    width = 3 if keras.backend.backend() == "jax" else 1
    trained = train_seeds(range(3), width, epochs=40, rates=(0.1, 1e6, 0.1))
    stopped = [each.history.stopped for each in trained]
    assert stopped == ["epochs", "not finite", "epochs"]
    assert trained[0].history.epochs == 40 > trained[1].history.epochs
    for each in trained:
        assert all(np.isfinite(weight).all() for weight in each.weights)


@pytest.mark.backend("tensorflow", "torch")
def test_only_jax_trains_together():
    with pytest.raises(ValueError, match="only on JAX: use `width=1`"):
        Trainer(network(), width=2)


@pytest.fixture(scope="module")
def pairs():
    """Four networks, trained two at a time."""
    return train_seeds(range(4), width=2)


@jax_only
def test_a_training_repeats_bit_for_bit_whatever_its_neighbours(pairs):
    swapped = train_seeds([1, 7, 2, 9], width=2)
    check_equal(swapped[::2], pairs[1:3], rtol=0, atol=0)


@jax_only
def test_widths_differ_by_rounding_only(pairs):
    wide = train_seeds(range(4), width=3)
    check_equal(wide, pairs, atol=1e-5)


@jax_only
@pytest.mark.parametrize("words", ["RESOURCE_EXHAUSTED: Out of memory", "INTERNAL"])
def test_only_memory_that_runs_out_lowers_the_width(pairs, monkeypatch, words):
    from keras_vaf.training.loops import jax_batch

    run = jax_batch.BatchLoop.run

    def fail(*_):
        raise jax_batch.jax.errors.JaxRuntimeError(words)

    def run_out(self, orders, count):
        if self._width > 2:
            self._program = fail
        return run(self, orders, count)

    monkeypatch.setattr(jax_batch.BatchLoop, "run", run_out)
    if words == "INTERNAL":
        with pytest.raises(jax_batch.jax.errors.JaxRuntimeError, match=words):
            train_seeds(range(4), width=4)
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        narrowed = train_seeds(range(4), width=4)
    [warning] = said
    assert "too small for 4 networks: training 2 at a time." in str(warning.message)
    check_equal(narrowed, pairs, rtol=0, atol=0)


ROWS = np.arange(20)
IMAGES = np.random.default_rng(0).normal(size=(20, 6, 6, 1)).astype("float32")


def convolutions(seed=0, dropout=0.0):
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


def train_convolutions(runs, batch_size, width=1):
    """Train networks with these pairs of initial weights, with rows, and seed."""
    model = convolutions(dropout=0.5)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.02, momentum=0.9), loss)
    made = [
        NetworkRun(
            convolutions(start).get_weights(),
            np.delete(ROWS, ROWS[start::5]),
            ROWS[start::5],
            seed,
        )
        for start, seed in runs
    ]
    trainer = Trainer(model, batch_size, width=width)
    return trainer.train_runs((IMAGES, ROWS % 2), made, epochs=2)


def test_dropout_depends_on_the_seed_and_not_on_earlier_trainings():
    first, second, again = train_convolutions([(1, 1), (1, 2), (1, 1)], len(ROWS))

    check_equal([again], [first], rtol=0, atol=0)
    # Equal weights, and all rows in one update: only dropout differs.
    assert first.history.metrics["loss"][0] != second.history.metrics["loss"][0]


@jax_only
def test_convolutions_trained_together_are_those_trained_one_by_one():
    runs = [(1, 1), (2, 2), (3, 3)]
    check_equal(*(train_convolutions(runs, 8, w) for w in (3, 1)), atol=1e-5)
