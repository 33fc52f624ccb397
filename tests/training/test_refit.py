"""Training on all rows: the epochs that were asked for, and no selection."""

import keras
import numpy as np
import pytest

from keras_vaf.training.best_epoch import refit
from tests.reference_training import trained_by_batches


def network(learning_rate):
    layers = [keras.Input((2,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    rng = np.random.default_rng(1)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    model.compile(keras.optimizers.SGD(learning_rate), "mse")
    return model


def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(21, 2)).astype("float32")
    return x, rng.normal(size=(21, 1)).astype("float32")


@pytest.mark.parametrize(("batch_size", "rate"), [(None, 0.6), (4, 0.2)])
def test_it_ends_where_batches_of_the_same_order_end(batch_size, rate):
    # The learning rates are so large that the last epoch is not the best one.
    expected = trained_by_batches(network(rate), *data(), 6, batch_size, seed=3)

    model = network(rate)
    history = refit(model, *data(), 6, batch_size, seed=3)

    assert (history.epochs, history.best_epoch, history.stopped) == (6, 6, "epochs")
    assert np.argmin(history.metrics["val_loss"]) < 5
    for one, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_it_keeps_the_last_finite_epoch():
    model = network(1e6)
    history = refit(model, *data(), 50)
    assert history.stopped == "not finite"
    assert history.best_epoch == history.epochs - 1
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
