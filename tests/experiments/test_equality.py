"""`compare` gives the numbers of the version at commit 8533b88.

That version computed the files in `expected` under the settings of these tests: one
thread, and no native kernels. Another processor rounds differently, so that numbers of
networks may differ in the last digits. What is counted does not differ.
"""

import json

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.experiments import Recipe, compare
from tests.experiments.cases import CASES, FOLDER, dataset

# On every backend, the other cases take seconds.
SLOW = [
    pytest.param(name, marks=[] if name == "small" else pytest.mark.nightly)
    for name in CASES
]
KEY = ["activation", "seed", "fold", "learning_rate"]
COUNTED = ["epochs", "best_epoch", "parameters"]
SCORES = ["val_loss", "validation", "test", "constant"]
# This version leaves it out where the smallest gain is 0.
NO_GAIN = ", which would have shown a gain of about 0.0000"


def expected(kind, case):
    """Return the recorded numbers of a case on this backend."""
    found = pd.read_csv(FOLDER / "expected" / f"{kind}.csv")
    here = found["backend"] == keras.backend.backend()
    return found[here & (found["case"] == case)].drop(columns=["case", "backend"])


@pytest.mark.parametrize("case", SLOW)
def test_all_numbers_are_those_of_the_old_version(case, tmp_path, data_dir):
    name, activations, settings, seeds = CASES[case]
    data, recipe = dataset(name), Recipe(**settings)

    words = {"seeds": seeds, "output": tmp_path, "verbose": False}
    found = compare(data, activations, recipe, **words)

    old = expected("trainings", case).sort_values(KEY, ignore_index=True)
    new = found.records.sort_values(KEY, ignore_index=True)
    networks = old["learning_rate"].notna()
    pd.testing.assert_frame_equal(new[KEY], old[KEY])
    np.testing.assert_array_equal(new[COUNTED][networks], old[COUNTED][networks])
    np.testing.assert_allclose(new[SCORES], old[SCORES], rtol=1e-6)
    table = expected("tables", case).set_index("activation")
    if recipe.folds == 2:  # which tell nothing in this version
        table[["interval", "p"]] = np.nan
    own = found.table.drop(columns="seconds")
    pd.testing.assert_frame_equal(own, table, rtol=1e-5)
    [choice] = expected("choices", case).to_dict("records")
    if recipe.folds > 2:
        assert found.advice == choice["advice"].replace(NO_GAIN, "")
    outputs = found.best_model.predict(data.x[:5], verbose=0)
    np.testing.assert_allclose(outputs, json.loads(choice["outputs"]), rtol=1e-5)
