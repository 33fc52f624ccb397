"""The paper's experiments give the numbers of the version at commit 551fad3.

That version computed the files in `expected` under the settings of these tests: one
thread, and no native kernels. Another processor rounds differently, so that numbers of
networks may differ in the last digits. What is counted does not differ.
"""

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.experiments.results import select
from keras_vaf.experiments.run import Study, train_missing
from keras_vaf.paper.tables import select_architectures
from tests.paper.cases import CASES, FOLDER

# TensorFlow and JAX compile each training, and the other cases take seconds everywhere.
LATE = {"servo": pytest.mark.nightly("tensorflow", "jax")}
SLOW = [pytest.param(name, marks=LATE.get(name, pytest.mark.nightly)) for name in CASES]
KEY = ["hidden", "activation", "learning_rate", "fold"]
COUNTED = ["epochs", "best_epoch", "parameters"]
SCORES = ["val_loss", "validation", "test", "constant"]


def expected(kind, case):
    """Return the recorded numbers of a case on this backend."""
    found = pd.read_csv(FOLDER / "expected" / f"{kind}.csv", dtype={"hidden": str})
    here = found["backend"] == keras.backend.backend()
    return found[here & (found["case"] == case)]


@pytest.mark.parametrize("case", SLOW)
def test_all_numbers_are_those_of_the_old_version(case, tmp_path, monkeypatch):
    dataset, parts = CASES[case](monkeypatch)

    found = pd.concat(
        [
            train_missing(
                Study(dataset, part.arms, part.recipe, (0,), tmp_path),
                verbose=False,
                further=False,
            )
            for part in parts
        ],
        ignore_index=True,
    )

    old = expected("trainings", case).sort_values(KEY, ignore_index=True)
    new = found.sort_values(KEY, ignore_index=True)
    pd.testing.assert_frame_equal(new[KEY], old[KEY])
    np.testing.assert_array_equal(new[COUNTED], old[COUNTED])
    np.testing.assert_allclose(new[SCORES], old[SCORES], rtol=1e-6)
    for own in expected("choices", case).itertuples():
        chosen = select_architectures(select(found, own.selection), own.selection)
        mine = chosen[chosen["activation"] == own.activation]
        assert {*mine["hidden"]} == {own.hidden}
        assert mine["test"].mean() == pytest.approx(own.mean, rel=1e-6)
