"""A search as a comparison, against numbers and networks made in another way."""

import itertools
import statistics

import keras
import numpy as np
import pandas
import pytest
from scipy import stats

from keras_vaf.datasets import Dataset, read_table
from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf.experiments import find_variants, read
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training import fold_rows, train
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.tuners import ranked, read_trials, search
from keras_vaf.tuners.cell_tuner import LEARNING_RATES, TUNERS
from keras_vaf.tuners.trial_table import trial_table
from tests.reference_training import standardised, trained_by_batches

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

FOLDS, EPOCHS, TRIALS, BATCH = 3, 3, 3, 32
RELU = find_variants("relu")


@pytest.fixture(scope="module")
def table():
    """60 rows of a regression with a long tail, so that folds differ in scale."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(0.0, 1.5, (60, 3)).astype("float32")
    y = (1000 + 10 * np.log(x[:, 0])).astype("float32")
    return Dataset("small", "regression", x, y, ("a", "b", "c"))


def search_in(folder, table, baselines=RELU, **options):
    """Search, and return the result and the calls of `on_progress`."""
    shown = []
    defaults = {"trials": TRIALS, "folds": FOLDS, "epochs": EPOCHS, "hidden": (4,)}
    defaults["on_progress"] = lambda *numbers: shown.append(numbers)
    found = search(table, baselines=baselines, output=folder, **(defaults | options))
    return found, shown


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def searched(table, folder):
    with pytest.MonkeyPatch.context() as patch:
        # There is no other loop than that of the comparison.
        patch.setattr(keras.Model, "fit", None, raising=False)
        return search_in(folder, table)


def network_of(values, fold):
    """Return the network of a trial in a fold, before the training."""
    kernels, start = independent_seeds(0, fold, "network", count=2)
    arguments = {name: values[name] for name in ("k", "g", "sharing")}
    arguments["initialization"] = values["initialization"]
    if values["initialization"] == "random":
        arguments["initialization"] = RandomStart(seed=start)
    network = mlp(3, (4,), 1, lambda: VAFActivation(**arguments), seed=kernels)
    network.compile(keras.optimizers.Adam(values["learning_rate"]), "mse")
    return network


def test_a_trial_scores_as_networks_scaled_on_their_training_rows(table, searched):
    best = ranked(searched[0].trials, "min")[0]
    folds = fold_rows(table.y, FOLDS, 0, stratify=False)
    for fold, (training, held, _) in enumerate(folds):
        x, y = standardised(table.x, training), standardised(table.y, training)
        network = network_of(best.values, fold)
        [seed] = independent_seeds(0, fold, "shuffling")
        history = train(
            *(network, x[training], y[training], (x[held], y[held]), EPOCHS),
            batch_size=BATCH,
            seed=seed,
        )
        outputs = network.predict(x[held], verbose=0)[:, 0]
        errors = table.y[training].std() * (outputs - y[held])
        assert best.fold_epochs[fold] == history.best_epoch
        np.testing.assert_allclose(
            best.fold_scores[fold], np.sqrt(np.mean(errors**2)), rtol=1e-3
        )
    assert best.score == pytest.approx(np.mean(best.fold_scores))


def test_a_frame_is_searched_as_its_dataset(tmp_path):
    frame = pandas.DataFrame({"a": np.arange(30.0), "y": np.arange(30.0) ** 2})
    options = {"baselines": (), "target": "y", "folds": 2}
    found, shown = search_in(tmp_path, frame, **options)
    assert shown[-1][0] >= 2 * TRIALS
    again, shown = search_in(tmp_path, read_table(frame, "y"), baselines=(), folds=2)
    assert shown[-1] == (0, 0)  # every training is that of the first search
    assert again.folder == found.folder
    with pytest.raises(ValueError, match="needs the name of the column to predict"):
        search(frame, output=tmp_path)


def test_gain_and_interval_follow_from_the_best_trial_of_each_fold(searched):
    """They are recomputed from the records with pandas and SciPy."""
    found, _ = searched
    frame = read(found.folder)
    frame = frame[frame.metric == "rmse"]
    own = frame[frame.activation.isin(["relu", "vaf-searched"])].fillna({"start": 0})
    keys = ["activation", "settings", "learning_rate", "start", "fold"]
    scores = own.pivot_table(index=keys, columns="split", values="value").reset_index()
    assert len(scores) == FOLDS * (TRIALS + len(LEARNING_RATES))
    best = scores.loc[scores.groupby(["activation", "fold"]).validation.idxmin()]
    tested = best.pivot_table(index="fold", columns="activation", values="test")
    gains = tested["relu"] - tested["vaf-searched"]

    row = found.table.loc["VAF, searched"]

    factor = np.sqrt(1 / FOLDS + (1 / FOLDS) / (1 - 1 / FOLDS))
    half = stats.t.ppf(0.975, FOLDS - 1) * gains.std() * factor
    assert row["mean"] == pytest.approx(tested["vaf-searched"].mean())
    assert row["gain"] == pytest.approx(gains.mean())
    assert row["interval"] == pytest.approx(half)
    said = (found.folder / "table.md").read_text()
    assert f"{gains.mean():+.4g} ± {half:.4g} |" in said
    assert "with its 95% interval" in said


def test_the_best_network_predicts_as_the_best_trial_on_all_rows(
    table, folder, searched
):
    alone, shown = search_in(folder, table, baselines=())
    assert shown[-1] == (0, 0)  # every training is shared with the first search
    best = ranked(alone.trials, "min")[0]
    network = network_of(best.values, fold=FOLDS)
    x, y = standardised(table.x, slice(None)), standardised(table.y, slice(None))
    epochs = round(statistics.median(best.fold_epochs))
    [seed] = independent_seeds(0, FOLDS, "shuffling")
    trained_by_batches(network, x, y, epochs, BATCH, seed)

    model = keras.saving.load_model(alone.folder / "best.keras", safe_mode=True)
    encoder = encoder_of(model)
    inputs = {column.name: table.x[:, n] for n, column in enumerate(encoder.columns)}
    predicted = model.predict(encoder.encode(inputs), verbose=0)

    expected = network.predict(x, verbose=0) * table.y.std() + table.y.mean()
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(predicted, expected, rtol=1e-5)


def test_progress_counts_all_trainings_of_the_study(searched):
    _, shown = searched
    references = 2 * FOLDS
    total = FOLDS * (TRIALS + len(LEARNING_RATES)) + references
    assert {total for _, total in shown} == {total}
    done = [done for done, _ in shown]
    assert done[0] == 0
    assert done[-1] == total
    assert all(one <= other + 1 for one, other in itertools.pairwise(done))


class Interrupted(BaseException):
    """The end of a process, as a search sees it."""


def test_a_search_that_stops_during_trainings_continues(table, tmp_path, searched):
    """It stops in a trial, with a record damaged, and among the other activations."""
    expected, _ = searched
    for trainings in (5, 6):

        def stop(done, total, trainings=trainings):
            if done >= trainings:
                raise Interrupted

        with pytest.raises(Interrupted):
            search_in(tmp_path, table, on_progress=stop)
        [path, *_] = tmp_path.rglob("trial_0/trial.json")
        path.write_text(path.read_text()[:50])

    found, shown = search_in(tmp_path, table)

    assert shown[-1][1] < 30  # instead of 33
    assert [t.values for t in found.trials] == [t.values for t in expected.trials]
    columns = ["mean", "deviation", "gain", "interval", "p"]
    assert found.table[columns].equals(expected.table[columns])
    assert read_trials(found.folder / "trials") == list(found.trials)


@pytest.mark.parametrize("tuner", TUNERS)
def test_each_tuner_runs_its_number_of_trials(table, tmp_path, tuner):
    trials = 7 if tuner == "hyperband" else 2
    options = {"folds": 2, "epochs": 3, "trials": trials}
    found, _ = search_in(tmp_path, table, (), tuner=tuner, **options)
    assert len(found.trials) == (6 if tuner == "hyperband" else 2)
    epochs = {r.protocol.epochs for r in found.trained if r.protocol.hidden}
    assert epochs == ({1, 3} if tuner == "hyperband" else {3})


def test_the_table_has_the_best_trials_first(searched):
    found, _ = searched
    shown = trial_table(found)
    assert shown.title == "Trials of the VAF: the best 3 of 3"
    place = shown.columns.index("RMSE")
    scores = [float(line[place]) for line in shown.lines]
    assert scores == sorted(scores)
    assert shown.columns[-1] == "learning_rate"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tuner": "hyperband", "trials": 5}, "least 6.* trials=5"),
        ({"tuner": "luck"}, "tuner='luck'"),
        ({"folds": 61}, "fewer folds"),
    ],
)
def test_a_search_that_cannot_begin_is_refused(table, tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        search_in(tmp_path, table, **options)
    assert not any(tmp_path.iterdir())
