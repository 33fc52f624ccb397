"""A network trained batch by batch, as a reference for the loops of the package."""

import numpy as np


def trained_by_batches(model, x, y, epochs, batch_size, seed):
    """Train a compiled model with `train_on_batch` and return it.

    NumPy draws the order of the rows from the seed and the number of the epoch.
    """
    size = batch_size or len(y)
    for epoch in range(epochs):
        order = np.arange(len(y))
        if size < len(y):
            order = np.random.default_rng([seed, epoch]).permutation(len(y))
        for start in range(0, len(y), size):
            rows = order[start : start + size]
            model.train_on_batch(x[rows], y[rows])
    return model


def standardised(x, rows):
    """Return inputs scaled by the mean and the deviation of some rows."""
    return ((x - x[rows].mean(axis=0)) / x[rows].std(axis=0)).astype("float32")
