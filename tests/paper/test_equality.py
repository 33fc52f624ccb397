"""Two tables of the paper on Servo give the numbers of the version at commit 551fad3.

That version computed the files in `expected` under the settings of this test: one
thread, and no native kernels. Another processor rounds differently, so that numbers of
networks may differ in the last digits. What is counted does not differ.
"""

from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.datasets import load
from keras_vaf.experiments.results import select
from keras_vaf.experiments.run import Study, train_missing
from keras_vaf.paper.parts import fully_connected
from keras_vaf.paper.tables import select_architectures

FOLDER = Path(__file__).parent / "expected"
KEY = ["hidden", "activation", "learning_rate", "fold"]
COUNTED = ["epochs", "best_epoch", "parameters"]
SCORES = ["val_loss", "validation", "test", "constant"]


def expected(kind):
    """Return the recorded numbers of this backend."""
    found = pd.read_csv(FOLDER / f"{kind}.csv", dtype={"hidden": str})
    return found[found["backend"] == keras.backend.backend()]


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_all_numbers_are_those_of_the_old_version(tmp_path):
    servo, found = load("servo"), []
    part = fully_connected(servo, quick=False)[0]
    for hidden in ((4,), (3, 2)):
        recipe = replace(part.recipe, hidden=hidden, epochs=6, folds=3)
        study = Study(servo, part.arms, recipe, (0,), tmp_path)
        found.append(train_missing(study, verbose=False, further=False))
    found = pd.concat(found, ignore_index=True)

    old = expected("trainings").sort_values(KEY, ignore_index=True)
    new = found.sort_values(KEY, ignore_index=True)
    pd.testing.assert_frame_equal(new[KEY], old[KEY])
    np.testing.assert_array_equal(new[COUNTED], old[COUNTED])
    np.testing.assert_allclose(new[SCORES], old[SCORES], rtol=1e-6)
    for own in expected("choices").itertuples():
        chosen = select_architectures(select(found, own.selection), own.selection)
        mine = chosen[chosen["activation"] == own.activation]
        assert {*mine["hidden"]} == {own.hidden}
        assert mine["test"].mean() == pytest.approx(own.mean, rel=1e-6)
