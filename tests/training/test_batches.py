"""Networks trained as one program on JAX: width, neighbours, memory."""

import contextlib
import importlib
import re
import warnings

import keras
import numpy as np
import pytest

from keras_vaf.training import NetworkRun, Trainer
from tests.training.runs import check_equal, data, network, rows, train_seeds

pytestmark = pytest.mark.backend("jax")


@pytest.fixture
def jax_batch():
    """The module that trains batches, which imports JAX."""
    return importlib.import_module("keras_vaf.training.loops.jax_batch")


@pytest.fixture(scope="module")
def pairs():
    """Four networks, trained two at a time."""
    return train_seeds(range(4), width=2)


def test_a_training_repeats_bit_for_bit_whatever_its_neighbours(pairs):
    swapped = train_seeds([1, 7, 2, 9], width=2)
    check_equal(swapped[::2], pairs[1:3], rtol=0, atol=0)


def test_widths_differ_by_rounding_only(pairs):
    wide = train_seeds(range(4), width=3)
    check_equal(wide, pairs, atol=1e-5)


@contextlib.contextmanager
def user_warnings():
    """Record warnings for users; `pytest.warns` would also raise those of Keras."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        yield said


def test_too_little_memory_lowers_the_width_and_says_so(pairs, jax_batch, monkeypatch):
    free = iter([0, 0])
    monkeypatch.setattr(jax_batch, "free_memory", lambda: next(free, np.inf))
    with user_warnings() as said:
        narrowed = train_seeds(range(4), width=4)
    first, second = (str(warning.message) for warning in said)
    end = r"networks needs \d+ MiB, and 0 MiB are free: training {} at a time\."
    assert re.fullmatch(f"A batch of 4 {end.format(2)}", first)
    assert re.fullmatch(f"A batch of 2 {end.format(1)}", second)
    check_equal(narrowed, pairs, atol=1e-5)


def test_memory_that_runs_out_lowers_the_width(pairs, jax_batch, monkeypatch):
    run = jax_batch.BatchLoop.run

    def run_out(self, orders, count):
        if self.width > 2:
            self._compile = lambda arguments: fail
        return run(self, orders, count)

    def fail(*arguments):
        raise jax_batch.jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    monkeypatch.setattr(jax_batch.BatchLoop, "run", run_out)
    with user_warnings() as said:
        narrowed = train_seeds(range(4), width=4)
    assert [str(each.message).rpartition(": ")[2] for each in said] == [
        "training 2 at a time."
    ]
    check_equal(narrowed, pairs, rtol=0, atol=0)


def test_other_failures_are_not_taken_for_it(jax_batch, monkeypatch):
    def fail(self, orders, count):
        self._compile = lambda arguments: internal
        return run(self, orders, count)

    def internal(*arguments):
        raise jax_batch.jax.errors.JaxRuntimeError("INTERNAL: broken")

    run = jax_batch.BatchLoop.run
    monkeypatch.setattr(jax_batch.BatchLoop, "run", fail)
    with pytest.raises(jax_batch.jax.errors.JaxRuntimeError, match="INTERNAL"):
        train_seeds(range(2), width=2)


@pytest.mark.nightly
def test_the_memory_of_a_program_grows_with_its_width(jax_batch, monkeypatch):
    needed = []
    monkeypatch.setattr(
        jax_batch.BatchLoop,
        "_check_memory",
        lambda loop, bytes_needed: needed.append(bytes_needed),
    )
    for width in (2, 4, 8):
        train_seeds(range(2), width, epochs=1)
    weights = 4 * network().count_params()
    assert needed[1] - needed[0] > 2 * 3 * weights  # variables, best, gradients
    assert needed[2] - needed[1] == pytest.approx(2 * (needed[1] - needed[0]), rel=0.3)


class SumOfPositives(keras.layers.Layer):
    """A layer with an array inside whose size depends on the inputs."""

    def call(self, inputs):
        return inputs + keras.ops.sum(inputs[inputs > 0])

    def compute_output_shape(self, input_shape):
        return input_shape


def test_a_model_with_random_shapes_is_named():
    layers = [keras.Input((3,)), SumOfPositives(), keras.layers.Dense(2)]
    model = keras.Sequential(layers, name="random")
    model.compile("sgd", "mse")
    trainer = Trainer(model, width=2)
    trainer.prepare(data())
    run = NetworkRun(trainer.start(model.get_weights(), 0), *rows())
    with pytest.raises(ValueError, match="'random' cannot be trained in a batch: use"):
        trainer.train_runs(data(), [run], epochs=1)
