"""A search that is killed goes on, and loses, repeats or changes no trial."""

import contextlib
import hashlib
import json

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, run
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
    """Ends a search as a signal does."""


def score(arm, fold, rate):
    """Return a number for some values; one in ten is NaN."""
    text = json.dumps([arm.arguments, fold, rate], sort_keys=True, default=float)
    number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    return float("nan") if number % 10 == 0 else (number % 1_000_003) / 1_000_003


def tear(path):
    """Append the beginning of a record, as a killed writer leaves it."""
    with path.open("ab") as file:
        file.write(b'\n{"key": "to')


@pytest.mark.parametrize("tuner", TUNERS)
def test_a_search_on_a_table_goes_on_after_each_kill(tmp_path, tuner, monkeypatch):
    """Each training is written once, and the tables are equal."""
    monkeypatch.setattr(run, "train_networks", recorded(score))
    x = np.random.default_rng(1).normal(size=(30, 2)).astype("float32")
    small = Dataset("slope", "regression", x, 500 + 20 * x[:, 0], ("a", "b"))
    recipe = Recipe(hidden=(2,), folds=2, epochs=3, learning_rates=(0.01, 0.1))
    options = {"baselines": "relu", "recipe": recipe, "verbose": False}
    whole = search(small, 7, tuner, output=tmp_path / "whole", **options)
    hyperband = tuner == "hyperband"
    assert hyperband or len(whole.trials) == 7
    assert set(whole.drawn["epochs"]) == ({1, 3} if hyperband else {3})
    append, written = run.append, []

    def write(folder, row):
        if len(written) % 4 == 3:
            written.append("killed")
            tear(folder / "other.jsonl")
            raise Killed
        written.append("record")
        append(folder, row)

    monkeypatch.setattr(run, "append", write)
    found = None
    while found is None:
        with contextlib.suppress(Killed):
            found = search(small, 7, tuner, output=tmp_path / "killed", **options)
    lines = [
        [row for path in (tmp_path / name).glob("*.jsonl") for row in read_lines(path)]
        for name in ("whole", "killed")
    ]
    assert written.count("killed") >= 4
    assert len(lines[0]) == len(lines[1])
    assert found.trials.equals(whole.trials)
    own, other = (each.records.drop(columns="seconds") for each in (found, whole))
    assert own.to_json() == other.to_json()
