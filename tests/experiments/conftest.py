"""Data of a size at which experiments take a moment."""

import dataclasses

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Protocol, find_variants


@pytest.fixture(scope="session")
def classes():
    """40 rows of two classes, in units that need scaling."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    x = rng.normal(size=(40, 3)) + y[:, None] * [2, 0, -1]
    x = (100 * x + 7).astype("float32")
    return Dataset("toy", "classification", x, y, ("a", "b", "c"), ("no", "yes"))


@pytest.fixture(scope="session")
def numbers():
    """40 rows of a regression, whose targets are far from 0."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2)).astype("float32")
    y = (500 + 20 * x[:, 0]).astype("float32")
    return Dataset("slope", "regression", x, y, ("a", "b"))


@pytest.fixture(scope="session")
def images():
    """90 small images of three classes, named as one of the paper's datasets."""
    rng = np.random.default_rng(2)
    y = np.arange(90) % 3
    x = (
        rng.normal(size=(90, 8, 8, 1))
        + (np.arange(8) // 3 == y[:, None])[:, None, :, None]
    )
    x = (40 * x + 100).astype("float32")
    names = ("left", "middle", "right")
    return Dataset("mnist", "classification", x, y, class_names=names)


@pytest.fixture
def arms(classes):
    """Two protocols for the classes, which differ in their activation."""
    relu, vaf = find_variants("relu,vaf-random")
    protocol = Protocol.of(classes, relu, hidden=(5, 3), epochs=3, folds=2)
    return [protocol, dataclasses.replace(protocol, variant=vaf)]
