"""What is killed goes on, and loses, repeats or changes no training."""

import contextlib
import hashlib
import json
import random

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, find_arms, run
from keras_vaf.experiments.arms import references
from keras_vaf.experiments.store import read_lines
from keras_vaf.tuners import search
from keras_vaf.tuners.table_search import TUNERS
from tests.reference_training import recorded

pytestmark = [
    pytest.mark.backend("torch"),  # which compiles nothing
    # Of the Gaussian process of `BayesianOptimization`.
    pytest.mark.filterwarnings("ignore:The optimal value found"),
]


class Killed(BaseException):
    """Ends a study as a signal does."""


def score(arm, fold, rate):
    """Return a number for some values; one in ten is NaN."""
    text = json.dumps([arm.arguments, fold, rate], sort_keys=True, default=float)
    number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    return float("nan") if number % 10 == 0 else (number % 1_000_003) / 1_000_003


def unfinished(folder, row):
    """Append the beginning of a record, as a killed writer leaves it."""
    text = f"\n{json.dumps(row)}\n"
    with next(folder.glob("*.jsonl")).open("a") as file:
        file.write(text[: random.Random(text).randrange(len(text) - 2)])


@pytest.mark.parametrize("tuner", [None, *TUNERS])
def test_a_study_or_search_goes_on_after_each_kill(tmp_path, tuner, monkeypatch):
    """Each training is written once, and the tables are equal."""
    monkeypatch.setattr(run, "train_networks", recorded(score))
    x = np.random.default_rng(1).normal(size=(30, 2)).astype("float32")
    small = Dataset("slope", "regression", x, 500 + 20 * x[:, 0], ("a", "b"))
    recipe = Recipe(hidden=(2,), folds=2, epochs=3, learning_rates=(0.01, 0.1))
    arms = (*find_arms("relu,vaf-random"), *references("regression"))

    def found_in(name):
        folder = tmp_path / name
        if tuner is None:
            study = run.Study(small, arms, recipe, (0,), folder)
            return run.train_missing(study, verbose=False), [*range(7)]
        options = {"baselines": "relu", "recipe": recipe, "verbose": False}
        found = search(small, 7, tuner, output=folder, **options)
        assert set(found.drawn["epochs"]) == ({1, 3} if tuner == "hyperband" else {3})
        return found.records, found.trials.drop(columns="seconds").to_numpy().tolist()

    whole, trials = found_in("whole")
    assert tuner == "hyperband" or len(trials) == 7
    append, written = run.append, []

    def write(folder, row):
        if written and len(written) % 3 == 0:
            written.append("killed")
            unfinished(folder, row)
            raise Killed
        written.append("record")
        append(folder, row)

    monkeypatch.setattr(run, "append", write)
    found = None
    while found is None:
        with contextlib.suppress(Killed):
            found = found_in("killed")
    lines = [
        [row for path in (tmp_path / name).glob("*.jsonl") for row in read_lines(path)]
        for name in ("whole", "killed")
    ]
    assert written.count("killed") >= 4
    assert len(lines[0]) == len(lines[1])
    assert str(found[1]) == str(trials)
    own, other = (each.drop(columns="seconds") for each in (found[0], whole))
    assert own.to_json() == other.to_json()
