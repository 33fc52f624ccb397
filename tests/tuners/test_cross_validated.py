"""Trials scored by folds: what is stored, shown, raised and trained at the end."""

from unittest.mock import Mock

import keras
import keras_tuner
import numpy as np
import pytest

from keras_vaf.training import Trainer, train
from keras_vaf.training.splits import k_folds
from keras_vaf.tuners import CrossValidated, search

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


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_each_fold_is_trained_as_train_does(searched):
    x, y = data()
    for number, result in searched.results().iterrows():
        hp, best = searched.oracle.trials[number].hyperparameters, []
        for fold, (rest, held) in enumerate(k_folds(y, FOLDS, seed=3, stratify=False)):
            model = searched._build(hp, fold)
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
    expected = searched._build(hp, fold=FOLDS)
    expected.fit(x, y, batch_size=ROWS, epochs=best["epochs"], verbose=0)

    model, _ = searched.get_best_models(2)

    np.testing.assert_allclose(model.predict(x), expected.predict(x), rtol=1e-5)


@once
def test_a_fold_that_is_not_finite_fails_the_trial(tmp_path):
    built = []

    def build(hp):
        """Return a model; only the first one has weights that are not finite."""
        model = line(hp)
        model.build((None, 2))
        if len(built) == 1:  # The first call asks for the hyperparameters.
            model.layers[0].bias.assign([np.nan])
        built.append(model)
        return model

    tuner = make(tmp_path, build, max_retries_per_trial=1)
    tuner.search(*data(), epochs=2)

    best, other = tuner.results().itertuples()
    assert (best.status, other.status) == ("COMPLETED", "FAILED")
    assert "val_loss was not finite in any epoch of fold 0" in other.error
    assert len(built) == 1 + 2 * FOLDS  # an equal training is not repeated
    [failed] = [t for t in tuner.oracle.trials.values() if t.status == "FAILED"]
    with pytest.raises(ValueError, match="the status FAILED"):
        tuner.load_model(failed)


@once
def test_hyperband_trains_for_parts_of_the_epochs(tmp_path, monkeypatch):
    train_runs = Mock(side_effect=Trainer.train_runs, autospec=True)
    monkeypatch.setattr(Trainer, "train_runs", lambda *given: train_runs(*given))
    tuner = make(tmp_path, kind=keras_tuner.Hyperband, max_epochs=3, factor=3)

    tuner.search(*data(), epochs=6)

    results = tuner.results().sort_index()
    assert set(results["status"]) == {"COMPLETED"}
    asked = [call.args[-1] for call in train_runs.call_args_list]
    assert asked == [2 * part for part in results["tuner/epochs"]]
    assert {*results["tuner/epochs"]} == {1, 3}


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
        again._train = Mock(wraps=again._train)
        again.search(x + shift, y, epochs=epochs)
        assert again._train.call_count == trials
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
    assert make(searched._file.parent.parent).results().empty
    for options in ({"epochs": 0}, {"epochs": 1, "batch_size": 0}):
        with pytest.raises(ValueError, match="must be an integer of at least 1"):
            make(tmp_path).search(*data(), **options)
    with pytest.raises(ValueError, match="Received: executions_per_trial"):
        make(tmp_path, executions_per_trial=2)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        make(tmp_path / "file").search(*data(), epochs=1)
    monkeypatch.setenv("KERASTUNER_ORACLE_IP", "127.0.0.1")
    with pytest.raises(ValueError, match="Received: KERASTUNER_ORACLE_IP=127"):
        make(tmp_path)
    with pytest.raises(ValueError, match="`search` searches in one process"):
        search("wine")


@once
def test_arguments_of_the_tuner_compile_the_model(tmp_path):
    tuner = make(tmp_path, optimizer="adam", max_trials=1, seed=np.int64(3))
    tuner.search(*data(), epochs=1)
    assert isinstance(tuner.get_best_models()[0].optimizer, keras.optimizers.Adam)
