"""Small data in place of those of the paper's larger experiments."""

import numpy as np

from keras_vaf.datasets import Dataset


def motors() -> Dataset:
    """Return 110 rows of eleven classes."""
    x = np.random.default_rng(0).normal(size=(110, 4)).astype("float32")
    names = tuple(map(str, range(11)))
    y = np.arange(110) % 11
    return Dataset("sensorless", "classification", x, y, tuple("abcd"), names)


def images() -> Dataset:
    """Return 90 small images of three classes."""
    y = np.arange(90) % 3
    x = np.random.default_rng(2).normal(size=(90, 8, 8, 1))
    x += (np.arange(8) // 3 == y[:, None])[:, None, :, None]
    names = ("left", "middle", "right")
    x = (40 * x + 100).astype("float32")
    return Dataset("mnist", "classification", x, y, class_names=names)
