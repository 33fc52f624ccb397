"""`compare` gives the numbers of the version at commit 8533b88, on every backend.

That version computed the files in `expected` under the settings of this test: one
thread, and no native kernels. Another processor rounds differently, so that numbers of
networks may differ in the last digits. What is counted does not differ.
"""

import json
from pathlib import Path

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.datasets import read_table
from keras_vaf.experiments import Recipe, compare, find_arms, refit, select
from keras_vaf.experiments.results import settings_of

FOLDER = Path(__file__).parent
NAMES = "relu,vaf-relu,vaf-random"
RECIPE = Recipe(hidden=(8, 4), learning_rates=(0.003, 0.03), epochs=8, folds=3)
KEY = ["activation", "seed", "fold", "learning_rate"]
COUNTED = ["epochs", "best_epoch", "parameters"]
SCORES = ["val_loss", "validation", "test", "constant"]


def expected(kind):
    """Return the recorded numbers of this backend."""
    found = pd.read_csv(FOLDER / "expected" / f"{kind}.csv")
    return found[found["backend"] == keras.backend.backend()].drop(columns="backend")


@pytest.mark.heart  # JAX trains the networks of several folds in one program
def test_all_numbers_are_those_of_the_old_version(tmp_path):
    data = read_table(FOLDER / "messy.csv", "price")

    found = compare(data, NAMES, RECIPE, output=tmp_path, verbose=False)

    old = expected("trainings").sort_values(KEY, ignore_index=True)
    new = found.records.sort_values(KEY, ignore_index=True)
    networks = old["learning_rate"].notna()
    pd.testing.assert_frame_equal(new[KEY], old[KEY])
    np.testing.assert_array_equal(new[COUNTED][networks], old[COUNTED][networks])
    np.testing.assert_allclose(new[SCORES], old[SCORES], rtol=1e-6)
    table = expected("tables").set_index("activation")
    own = found.table.drop(columns="seconds")
    pd.testing.assert_frame_equal(own, table, rtol=1e-5)
    [choice] = expected("choices").to_dict("records")
    [relu], own = find_arms("relu"), select(found.records)  # which it chose
    settings = settings_of(own[own["activation"] == "relu"])
    network = refit(data, relu, RECIPE, *settings)
    outputs = network.predict(data.x[:5], verbose=0)
    np.testing.assert_allclose(outputs, json.loads(choice["outputs"]), rtol=1e-5)
