"""Data of a size at which a study takes a moment, and records made by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.arms import ARMS
from keras_vaf.experiments.store import COLUMNS


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
def made():
    """Make the records of one activation, one for each test score."""

    def make(activation, tests, task="classification", **columns):
        arm = ARMS.get(activation)
        record = {
            "problem": "toy",
            "task": task,
            "hidden": "5-3",
            "title": arm.title if arm else activation,
            "recipe": "c0ffee00",
            "activation": activation,
            "arguments": json.dumps(arm.arguments if arm else {}),
            "learning_rate": 0.01 if arm else None,
            "seed": 0,
            "fold": range(len(tests)),
            "epochs": 10,
            "best_epoch": 5,
            "val_loss": 0.4 if arm else None,
            "validation": 0.75,
            "test": tests,
            "constant": 0.5 if task == "classification" else 90_000.0,
            "share": 0.5,
            "parameters": 41.0 if arm else None,
            "seconds": 1.5,
            "environment": "",
        }
        found = pd.DataFrame(record | columns, columns=list(COLUMNS))
        return found.astype({"learning_rate": float, "val_loss": float})

    return make
