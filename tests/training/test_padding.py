"""Data that JAX fills up with rows of weight 0 train the same network."""

import importlib

import numpy as np
import pytest

from keras_vaf.training import Trainer
from keras_vaf.training.data import fill_up
from tests.training.runs import check_equal_histories, check_equal_weights
from tests.training.test_trainer import regression_data, tiny_model


def test_an_array_is_filled_up_to_the_next_size():
    rows = np.arange(6.0).reshape(3, 2)
    filled = fill_up(rows, (2, 4, 8), -1)
    np.testing.assert_array_equal(filled, [[0, 1], [2, 3], [4, 5], [-1, -1]])
    for sizes in ((2, 3), (2,), ()):  # it fits exactly, or is larger than every size
        np.testing.assert_array_equal(fill_up(rows, sizes), rows)


def train_both(batch_size, rows=23, training=16, **arguments):
    """Train a network without and with padding; return histories and weights."""
    x, y = regression_data(rows)
    validation = x[training:], y[training:]
    found = []
    for pad in (False, True):
        model = tiny_model("adam")
        trainer = Trainer(model, batch_size, pad=pad, **arguments)
        history = trainer.train(x[:training], y[:training], validation, epochs=9)
        found.append((history, model.get_weights()))
    return found


@pytest.mark.parametrize("batch_size", [None, 4, 5, 16, 100])
def test_the_padded_training_is_the_same(batch_size):
    (history, weights), (padded, others) = train_both(batch_size)
    check_equal_histories(padded, history, rtol=1e-6, atol=1e-6)
    check_equal_weights(others, weights, rtol=1e-6, atol=1e-6)


@pytest.mark.backend("jax")
class TestSizes:
    @pytest.fixture
    def padding(self):
        """The module that pads, which imports JAX."""
        return importlib.import_module("keras_vaf.training.loops.jax_padding")

    @pytest.mark.parametrize("sizes", [(5, 7, 16), (4, 32), (3,)])
    @pytest.mark.parametrize("batch_size", [None, 5])
    def test_no_size_changes_the_training(
        self, padding, monkeypatch, sizes, batch_size
    ):
        """The rows fit a size exactly, end inside a batch, or have no size."""
        for name in ("_SIZES", "_SIZES_OF_ONE_BATCH"):
            monkeypatch.setattr(padding, name, sizes)
        (history, weights), (padded, others) = train_both(batch_size)
        check_equal_histories(padded, history, rtol=1e-6, atol=1e-6)
        check_equal_weights(others, weights, rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("batch_size", [None, 8])
    def test_one_program_trains_many_numbers_of_rows(self, padding, batch_size):
        x, y = regression_data(31)
        trainer = Trainer(tiny_model("adam"), batch_size, pad=True)
        for training, rows in ((20, 31), (21, 31), (9, 10)):
            validation = x[training:rows], y[training:rows]
            trainer.train(x[:training], y[:training], validation, epochs=2)
        assert trainer._loop._run_compiled._cache_size() == 1
