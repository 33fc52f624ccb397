"""Trials scored by folds: what is stored, shown, raised and trained at the end."""

from pathlib import Path

import keras
import keras_tuner
import numpy as np
import pandas as pd
import pytest

from keras_vaf.training import Trainer, train
from keras_vaf.training.splits import k_folds
from keras_vaf.tuners import CrossValidated, SearchSpace, activation, plot_trials

ROWS, FOLDS, EPOCHS = 12, 3, 4

# Independent of the backend, and fastest on PyTorch, which compiles nothing.
once = pytest.mark.backend("torch")


def data():
    x = np.random.default_rng(0).normal(size=(ROWS, 2)).astype("float32")
    return x, x @ np.array([1.0, -2.0], "float32")


def line(hp):
    """A linear model, not built, whose only hyperparameter is its learning rate."""
    model = keras.Sequential([keras.layers.Dense(1)])
    rate = hp.Choice("rate", [0.05, 0.1, 0.2, 0.4])
    model.compile(keras.optimizers.SGD(rate), "mse")
    return model


def make(folder, build=line, kind=keras_tuner.RandomSearch, **options):
    options = {"objective": "val_loss", "seed": 3, "folds": FOLDS} | options
    if kind is not keras_tuner.Hyperband:
        options = {"max_trials": 2} | options
    tuner = CrossValidated(kind)(
        build, stratify=False, directory=folder, project_name="search", **options
    )
    tuner.oracle.verbose = 0
    return tuner


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A finished search of two trials."""
    tuner = make(tmp_path_factory.mktemp("searched"))
    tuner.search(*data(), epochs=EPOCHS)
    return tuner


def test_each_fold_is_trained_as_train_does(searched):
    x, y = data()
    for number, result in searched.results().iterrows():
        hp, best = searched.oracle.trials[number].hyperparameters, []
        for fold, (rest, held) in enumerate(k_folds(y, FOLDS, seed=3, stratify=False)):
            model = searched._build(hp, fold, attempt=0)
            alone = train(model, x[rest], y[rest], (x[held], y[held]), EPOCHS)
            best.append(alone.best_epoch)
            score = alone.best["val_loss"]
            np.testing.assert_allclose(result[f"fold_{fold}"], score, rtol=1e-5)
        folds = [result[f"fold_{fold}"] for fold in range(FOLDS)]
        assert result["epochs"] == np.median(best)
        np.testing.assert_allclose(result["score"], np.mean(folds))
        np.testing.assert_allclose(result["deviation"], np.std(folds, ddof=1))


def test_the_winner_is_trained_on_all_rows(searched):
    best = searched.results().iloc[0]
    assert best["score"] == searched.results()["score"].min()
    x, y = data()
    hp = searched.oracle.trials[best.name].hyperparameters
    assert hp["rate"] == best["rate"]
    expected = searched._build(hp, fold=FOLDS, attempt=0)
    expected.fit(x, y, batch_size=ROWS, epochs=best["epochs"], verbose=0)

    model = searched.refit_best()

    np.testing.assert_allclose(model.predict(x), expected.predict(x), rtol=1e-5)
    assert len(searched.get_best_models(2)) == 2


@pytest.mark.parametrize("kind", ["RandomSearch", "GridSearch", "BayesianOptimization"])
def test_the_numbers_are_those_of_the_old_version(tmp_path, kind):
    """They are those of commit 551fad3."""

    def build(hp):
        space = SearchSpace(k=(2, 3), initialization=("g", "relu"))
        vaf = activation(hp, space=space)
        layers = [keras.Input((2,)), keras.layers.Dense(4), vaf, keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        rate = hp.Choice("rate", [0.01, 0.03, 0.1])
        model.compile(keras.optimizers.Adam(rate), "mse")
        return model

    x = np.random.default_rng(0).normal(size=(24, 2)).astype("float32")
    tuner = make(tmp_path, build, getattr(keras_tuner, kind), max_trials=4)

    tuner.search(x, x @ np.array([1.0, -2.0], "float32"), epochs=6)

    old = pd.read_csv(Path(__file__).parent / "expected" / "folds.csv")
    old = old[(old["tuner"] == kind) & (old["backend"] == keras.backend.backend())]
    new = tuner.results().sort_index()
    names = ["k", "g", "sharing", "initialization", "rate", "epochs"]
    assert new[names].values.tolist() == old[names].values.tolist()
    numbers = ["score", "deviation"]
    np.testing.assert_allclose(new[numbers], old[numbers], rtol=1e-3)
    assert new.columns[: len(names)].tolist() == ["status", *names[:-1]]
    best = tuner.results().iloc[0]
    assert tuner.refit_best().layers[1].k == best["k"]
    panels = [each.get_title("left") for each in plot_trials(new).axes]
    assert panels == names[:-1]


@once
def test_preprocessing_is_fitted_on_the_rows_of_training(tmp_path):
    seen = []

    def preprocess(x):
        seen.append(x)
        return lambda rows: rows - x.mean(axis=0)

    x, y = data()
    tuner = make(tmp_path, max_trials=1)
    tuner.search(x, y, epochs=1, preprocess=preprocess)
    for fitted, (rest, _) in zip(seen, k_folds(y, FOLDS, 3, False), strict=True):
        np.testing.assert_array_equal(fitted, x[rest])
    tuner.refit_best()

    np.testing.assert_array_equal(seen[-1], x)


@once
@pytest.mark.parametrize("retries", [0, 1])
def test_a_fold_that_is_not_finite_is_tried_again_or_fails_the_trial(tmp_path, retries):
    raised = []

    def build(hp):
        """Return a model; only the first one has weights that are not finite."""
        model = line(hp)
        model.build((None, 2))
        if len(raised) == 1:  # The first call asks for the hyperparameters.
            model.layers[0].bias.assign([np.nan])
        raised.append(model)
        return model

    tuner = make(tmp_path, build, max_retries_per_trial=retries)
    tuner.search(*data(), epochs=2)

    best, other = tuner.results().itertuples()
    assert best.status == "COMPLETED"
    assert other.status == ("COMPLETED" if retries else "FAILED")
    assert np.isfinite(other.score) == bool(retries)
    message = "val_loss was not finite in any epoch of fold 0"
    assert retries or message in other.error
    assert tuner.oracle.get_best_trials()[0].trial_id == best.Index


@once
def test_the_search_ends_when_all_trials_fail(tmp_path):
    def build(hp):
        hp.Choice("x", [1, 2, 3, 4])
        return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])

    tuner = make(tmp_path, build, max_trials=4, max_consecutive_failed_trials=2)

    with pytest.raises(RuntimeError, match=r"(?s)consecutive.*of 2.*model.compile"):
        tuner.search(*data(), epochs=1)

    assert tuner.results()["status"].tolist() == ["FAILED"] * 2
    with pytest.raises(ValueError, match="A completed trial is needed"):
        tuner.refit_best()


@once
def test_hyperband_trains_for_parts_of_the_epochs(tmp_path, monkeypatch):
    asked, train_runs = [], Trainer.train_runs

    def note(self, data, runs, epochs):
        asked.append(epochs)
        return train_runs(self, data, runs, epochs)

    monkeypatch.setattr(Trainer, "train_runs", note)
    tuner = make(tmp_path, kind=keras_tuner.Hyperband, max_epochs=3, factor=3)

    tuner.search(*data(), epochs=6)

    results = tuner.results().sort_index()
    assert set(results["status"]) == {"COMPLETED"}
    assert asked == [2 * part for part in results["tuner/epochs"]]
    assert {*results["tuner/epochs"]} == {1, 3}


def note_trainings(tuner):
    """Return a list to which each training of a trial appends its hyperparameters."""
    noted, trained = [], tuner._train

    def train(hp, attempt):
        noted.append(hp.values)
        return trained(hp, attempt)

    tuner._train = train
    return noted


@once
def test_a_trial_is_remembered_for_the_same_data_and_options(searched):
    (x, y), folder = data(), searched._file.parent.parent
    for options, epochs, shift, trials in (
        ({}, EPOCHS, 0, 0),
        ({"max_trials": 3}, EPOCHS, 0, 1),  # a longer search
        ({}, EPOCHS + 1, 0, 2),
        ({}, EPOCHS, 1, 2),
        ({"folds": 2}, EPOCHS, 0, 2),
        ({"overwrite": True}, EPOCHS, 0, 2),
        ({"seed": None}, EPOCHS, 0, 2),
        ({"seed": None}, EPOCHS, 0, 0),
    ):
        again = make(folder, **options)
        noted = note_trainings(again)
        again.search(x + shift, y, epochs=epochs)
        assert len(noted) == trials
        if trials < 2 and "seed" not in options:
            columns = ["rate", "score", "fold_0", "epochs"]
            first = again.results().sort_index()[columns][:2]
            assert first.equals(searched.results().sort_index()[columns])


@once
def test_bad_input_is_refused(tmp_path, searched, monkeypatch):
    with pytest.raises(ValueError, match="Received: tuner_class=<class 'str'>"):
        CrossValidated(str)
    with pytest.raises(ValueError, match="Received: objective='loss'"):
        make(tmp_path, objective="loss")
    with pytest.raises(ValueError, match="use fewer folds"):
        make(tmp_path, folds=ROWS + 1).search(*data(), epochs=1)
    tuner = make(searched._file.parent.parent)
    assert tuner.results().empty
    with pytest.raises(ValueError, match="call `search` first"):
        tuner.refit_best()
    monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")
    with pytest.raises(ValueError, match="Received: KERASTUNER_ORACLE_IP=127"):
        make(tmp_path)
