"""A search that is killed goes on, and loses, repeats or changes no trial."""

import contextlib
import hashlib
import json

import keras_tuner
import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, run
from keras_vaf.experiments.store import read_lines
from keras_vaf.tuners import CrossValidated, search
from keras_vaf.tuners.table_search import TUNERS

pytestmark = [
    pytest.mark.backend("torch"),  # which compiles nothing
    # Of the Gaussian process of `BayesianOptimization`.
    pytest.mark.filterwarnings("ignore:The optimal value found"),
]

LIMITS = {"Hyperband": {"max_epochs": 9, "factor": 3}}
KINDS = sorted(TUNERS.values())


class Killed(BaseException):
    """Ends a search as a signal does."""


def score(values):
    """Return a number for some values; one in ten is NaN."""
    text = json.dumps(values, sort_keys=True, default=float)
    number = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    return float("nan") if number % 10 == 0 else (number % 1_000_003) / 1_000_003


def space(hp):
    hp.Choice("k", [3, 5, 7, 9, 11, 15])
    hp.Choice("g", ["relu", "tanh", "sigmoid"])
    start = hp.Choice("initialization", ["g", "random", "relu"])
    with hp.conditional_scope("initialization", ["random"]):
        if start == "random":
            hp.Float("scale", 0.1, 10, sampling="log")
    hp.Choice("learning_rate", [1e-3, 3e-3, 1e-2])


def make(kind, folder, left, trials):
    """Return a tuner whose trials take no time, and which is killed after `left`."""

    class Toy(CrossValidated(getattr(keras_tuner, kind))):
        ran = ()

        def _train(self, hp):
            if len(self.ran) == left:
                raise Killed
            self.ran += (json.dumps(hp.values, sort_keys=True),)
            value = score(hp.values)
            if np.isnan(value):
                return {"error": "val_loss was not finite"}
            results = {"deviation": 0.0, "epochs": 1, "seconds": 0.0}
            return {"error": None, "metrics": {"val_loss": value}, "results": results}

    made = Toy(
        space,
        objective="val_loss",
        seed=7,
        directory=folder,
        project_name="p",
        max_consecutive_failed_trials=99,
        folds=2,
        stratify=False,
        **LIMITS.get(kind, {"max_trials": trials}),
    )
    made.oracle.verbose = 0
    return made


def play(kind, folder, left=None, trials=24):
    """Search until the end or the kill, and return the tuner and whether it ended."""
    tuner = make(kind, folder, left, trials)
    try:
        tuner.search(np.zeros((4, 1)), np.zeros(4), epochs=1)
    except Killed:
        return tuner, False
    return tuner, True


def outcome(tuner):
    return tuner.results().drop(columns="error").sort_index().to_json()


def tear(path):
    """Append the beginning of a record, as a killed writer leaves it."""
    with path.open("ab") as file:
        file.write(b'\n{"key": "to')


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left", [3, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_search_killed_again_and_again_draws_the_same_trials(tmp_path, kind, left):
    """After so many trials comes a kill, which leaves an incomplete line."""
    trials = 9 if kind == "BayesianOptimization" else 24
    whole, _ = play(kind, tmp_path / "whole", trials=trials)
    file = tmp_path / "killed" / "p" / "trials.jsonl"
    ran, kills, ended = [], -1, False
    while not ended:
        tuner, ended = play(kind, tmp_path / "killed", left, trials)
        ran += tuner.ran
        kills += 1
        tear(file)

    assert outcome(tuner) == outcome(whole)
    assert ran == list(whole.ran)
    assert len(read_lines(file)) == len(ran)
    assert kills >= (len(ran) - 1) // left


def fake(folds, arm, recipe, wanted):
    """Yield records as `train_networks` does, where what they learn does not matter."""
    for fold, rate in wanted:
        value = score([arm.arguments, fold, rate])
        names = ("best_epoch", "validation", "test", "parameters")
        own = dict.fromkeys(names, 1.0 + (0 if np.isnan(value) else value))
        own |= {"val_loss": None if np.isnan(value) else value, "seconds": 0.1}
        own |= {"learning_rate": rate, "epochs": recipe.epochs}
        yield folds[fold].record() | own


@pytest.mark.parametrize("tuner", TUNERS)
def test_a_search_on_a_table_goes_on_after_each_kill(tmp_path, tuner, monkeypatch):
    """Each training is written once, and the tables are equal."""
    monkeypatch.setattr(run, "train_networks", fake)
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
