"""Many training runs: each gives the result that it gives alone."""

import keras
import numpy as np
import pytest

from keras_vaf.training import Trainer, train
from tests.training.runs import (
    check_equal_histories,
    data,
    network,
    rows,
    train_seeds,
)


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


@pytest.mark.backend("tensorflow")
def test_a_start_needs_variables():
    with pytest.raises(ValueError, match="call `prepare` first"):
        Trainer(network()).start(network().get_weights(), seed=0)
