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


@pytest.fixture
def arms(classes):
    """Two protocols for the classes, which differ in their activation."""
    relu, vaf = find_variants("relu,vaf-random")
    protocol = Protocol.of(classes, relu, hidden=(5, 3), epochs=3, folds=2)
    return [protocol, dataclasses.replace(protocol, variant=vaf)]
