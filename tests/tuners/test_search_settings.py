"""The settings of a search on a dataset, and the number of its trials."""

from types import SimpleNamespace

import keras_tuner
import numpy as np
import pytest

from keras_vaf.tuners import CrossValidated, activation, search_settings
from keras_vaf.tuners.search_settings import TUNERS, Settings

pytestmark = pytest.mark.backend("tensorflow")

OPTIONS = {"folds": 3, "hidden": (4,), "epochs": 9, "seed": 0}


@pytest.fixture(autouse=True)
def dataset(monkeypatch):
    found = SimpleNamespace(checksum="c0ffee")
    monkeypatch.setattr(
        search_settings, "open_dataset", lambda name, target, data_dir: found
    )


@pytest.mark.parametrize("tuner", TUNERS)
def test_the_budget_is_for_its_tuner(tuner, tmp_path):
    budget = Settings.of("wine", None, 30, tuner, **OPTIONS).budget
    kind = getattr(keras_tuner, TUNERS[tuner])

    made = kind(lambda hp: hp.Boolean("x"), "val_loss", directory=tmp_path, **budget)
    assert made.oracle


@pytest.mark.parametrize(("asked", "made"), [(6, 6), (30, 23), (99, 70)])
def test_hyperband_makes_no_more_trials_than_it_is_given(tmp_path, asked, made):
    class Toy(CrossValidated(keras_tuner.Hyperband)):
        def run_trial(self, trial):
            return {"val_loss": float(trial.trial_id)}

    settings = Settings.of("wine", None, asked, "hyperband", **OPTIONS)
    tuner = Toy(
        activation,
        objective="val_loss",
        seed=1,
        stratify=False,
        directory=tmp_path,
        **settings.budget,
    )
    tuner.oracle.verbose = 0
    tuner.search(np.zeros((9, 1)), np.zeros(9), epochs=9)

    assert settings.trials == len(tuner.results()) == made


def test_what_was_written_is_read(tmp_path):
    settings = Settings.of("wine", "somewhere", 30, "random", **OPTIONS)
    settings.write(tmp_path)

    assert Settings.read(tmp_path) == settings
    # Another machine may have the files elsewhere.
    Settings.of("wine", None, 30, "random", **OPTIONS).write(tmp_path)
    with pytest.raises(ValueError, match="another search, with trials 30, seed 0"):
        Settings.of("wine", None, 9, "random", **{**OPTIONS, "seed": 1}).write(tmp_path)
