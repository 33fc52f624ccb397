"""Trials scored by folds: what is stored, shown, raised and trained at the end."""

import json

import keras
import keras_tuner
import numpy as np
import pytest

from keras_vaf.training import k_folds, train, train_many
from keras_vaf.tuners import CrossValidated, activation, ranked, read_trials

ROWS, FOLDS, EPOCHS = 12, 3, 4

# Independent of the backend, and fastest on PyTorch, which compiles nothing.
once = pytest.mark.backend("torch")


def data():
    x = np.random.default_rng(0).normal(size=(ROWS, 2)).astype("float32")
    return x, x @ np.array([1.0, -2.0], "float32")


def line(hp):
    """A linear model whose only hyperparameter is its learning rate."""
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
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
    for result in searched.results():
        trial = searched.oracle.trials[result.trial]
        for fold, (rest, held) in enumerate(k_folds(y, FOLDS, seed=3, stratify=False)):
            model = searched._training.build(trial.hyperparameters, fold, attempt=0)
            alone = train(model, x[rest], y[rest], (x[held], y[held]), EPOCHS)
            assert result.fold_epochs[fold] == alone.best_epoch
            np.testing.assert_allclose(
                result.fold_scores[fold], alone.best["val_loss"], rtol=1e-5
            )


def test_mean_and_deviation_are_those_of_the_folds(searched):
    for result in searched.results():
        np.testing.assert_allclose(result.score, np.mean(result.fold_scores))
        np.testing.assert_allclose(result.deviation, np.std(result.fold_scores, ddof=1))
        assert result.epochs == np.median(result.fold_epochs)


def test_the_files_say_what_the_tuner_says(searched):
    assert read_trials(searched.folder) == searched.results()


def test_the_winner_is_trained_on_all_rows(searched):
    best = ranked(searched.results(), "min")[0]
    x, y = data()
    trial = searched.oracle.trials[best.trial]
    expected = searched._training.build(trial.hyperparameters, fold=FOLDS, attempt=0)
    expected.fit(x, y, batch_size=ROWS, epochs=best.epochs, verbose=0)

    model = searched.refit_best()

    np.testing.assert_allclose(model.predict(x), expected.predict(x), rtol=1e-5)
    assert len(searched.get_best_models(2)) == 2


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


def diverges_at_first(raised):
    """A hypermodel whose very first model has weights that are not finite."""

    def build(hp):
        model = line(hp)
        if len(raised) == 1:  # The first call asks for the hyperparameters.
            model.layers[0].bias.assign([np.nan])
        raised.append(model)
        return model

    return build


@once
def test_a_fold_that_is_not_finite_is_tried_again(tmp_path):
    tuner = make(tmp_path, diverges_at_first([]), max_trials=1, max_retries_per_trial=1)

    tuner.search(*data(), epochs=2)

    (result,) = tuner.results()
    assert result.status == "COMPLETED"
    assert np.isfinite(result.score)


@once
def test_a_fold_that_is_not_finite_fails_the_trial_and_says_so(tmp_path):
    tuner = make(tmp_path, diverges_at_first([]), max_trials=2)

    tuner.search(*data(), epochs=2)

    failed, completed = read_trials(tuner.folder)
    assert (failed.status, completed.status) == ("FAILED", "COMPLETED")
    assert "val_loss was not finite in any epoch of fold 0" in failed.message
    assert tuner.oracle.get_best_trials()[0].trial_id == completed.trial


@once
def test_the_search_ends_when_all_trials_fail(tmp_path):
    def build(hp):
        hp.Choice("x", [1, 2, 3, 4])
        return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])

    tuner = make(tmp_path, build, max_trials=4, max_consecutive_failed_trials=2)

    with pytest.raises(RuntimeError, match=r"(?s)2 consecutive.*model.compile"):
        tuner.search(*data(), epochs=1)

    assert [r.status for r in read_trials(tuner.folder)] == ["FAILED"] * 2
    with pytest.raises(ValueError, match="A completed trial is needed"):
        tuner.refit_best()


@once
@pytest.mark.parametrize("kind", ["BayesianOptimization", "GridSearch", "Hyperband"])
def test_other_tuners(tmp_path, monkeypatch, kind):
    asked = []

    def note(runs, x, y, epochs, **options):
        asked.append(epochs)
        return train_many(runs, x, y, epochs, **options)

    monkeypatch.setattr("keras_vaf.tuners.trial_training.train_many", note)
    options = {"max_epochs": 3, "factor": 3} if kind == "Hyperband" else {}
    tuner = make(tmp_path, kind=getattr(keras_tuner, kind), **options)

    tuner.search(*data(), epochs=6)

    results = tuner.results()
    assert {result.status for result in results} == {"COMPLETED"}
    # Hyperband counts in parts of the epochs, here of three.
    parts = [result.values.get("tuner/epochs", 3) for result in results]
    before = [result.values.get("tuner/initial_epoch", 0) for result in results]
    assert asked == [
        2 * (part - done) for part, done in zip(parts, before, strict=True)
    ]
    assert ({1, 3} if kind == "Hyperband" else {3}) == set(parts)


def test_a_vaf_is_searched_and_trained(tmp_path):
    def build(hp):
        hidden = [keras.layers.Dense(3), activation(hp, k=2, sharing="layer")]
        layers = [keras.Input((2,)), *hidden, keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile("sgd", "mse")
        return model

    tuner = make(tmp_path, build, max_trials=1)
    tuner.search(*data(), epochs=1)

    assert tuner.results()[0].values.keys() == {"g", "initialization"}
    assert tuner.refit_best().layers[1].k == 2


@once
def test_another_search_in_the_folder_is_refused(searched, tmp_path):
    x, y = data()
    with pytest.raises(ValueError, match="a search that differs in epochs"):
        make(searched.folder.parent).search(x, y, epochs=EPOCHS + 1)
    with pytest.raises(ValueError, match="a search that differs in folds, data"):
        make(searched.folder.parent, folds=2).search(x + 1, y, epochs=EPOCHS)
    other = make(tmp_path)
    other.search(x, y, epochs=1)
    again = make(tmp_path, overwrite=True)
    again.search(x, y, epochs=2)
    assert len(again.results()) == 2


@once
class TestBadInput:
    """Settings that are refused, and the errors."""

    def test_no_tuner(self):
        with pytest.raises(ValueError, match="Received: tuner_class=<class 'str'>"):
            CrossValidated(str)

    def test_an_objective_that_is_not_on_validation_rows(self, tmp_path):
        with pytest.raises(ValueError, match="Received: objective='loss'"):
            make(tmp_path, objective="loss")

    def test_a_hypermodel_that_asks_for_nothing(self, tmp_path):
        def build(hp):
            return keras.Sequential([keras.layers.Dense(1)])

        with pytest.raises(ValueError, match="a hypermodel without hyperparameters"):
            make(tmp_path, build)

    def test_too_many_folds(self, tmp_path):
        with pytest.raises(ValueError, match="use fewer folds"):
            make(tmp_path, folds=ROWS + 1).search(*data(), epochs=1)

    def test_a_model_before_the_search(self, searched):
        tuner = make(searched.folder.parent)
        with pytest.raises(ValueError, match="Call `search` with the data"):
            tuner.refit_best()


def test_a_protocol_is_written(searched):
    path = f"{searched.folder}/protocol.json"
    with open(path, encoding="utf-8") as file:
        protocol = json.load(file)
    assert protocol["folds"] == FOLDS
    assert protocol["epochs"] == EPOCHS
