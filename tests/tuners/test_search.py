"""A search as a comparison, against numbers and networks made in another way."""

from pathlib import Path

import keras
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from keras_vaf.datasets import Dataset
from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf.experiments import Recipe, records, run
from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import mlp
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.tuners import plot_trials, search
from keras_vaf.tuners.table_search import LEARNING_RATES, TUNERS
from tests.reference_training import standardised, trained_by_batches

once = pytest.mark.backend("torch")  # which compiles nothing

EXPECTED = Path(__file__).parent / "expected"
RECIPE = Recipe(hidden=(4,), learning_rates=LEARNING_RATES, folds=3, epochs=4)
SHORT = Recipe(hidden=(2,), learning_rates=(0.01, 0.1), folds=2, epochs=3)
TRIALS = 5


@pytest.fixture(scope="module")
def table():
    """60 rows of a regression with a long tail, so that folds differ in scale."""
    rng = np.random.default_rng(0)
    x = rng.lognormal(0.0, 1.5, (60, 3)).astype("float32")
    y = (1000 + 10 * np.log(x[:, 0])).astype("float32")
    return Dataset("small", "regression", x, y, ("a", "b", "c"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def searched(table, folder):
    return search(
        table,
        TRIALS,
        baselines="relu,silu",
        recipe=RECIPE,
        output=folder,
        verbose=False,
    )


def expected(name):
    """Return the numbers of the version at commit 551fad3 on this backend."""
    found = pd.read_csv(EXPECTED / f"{name}.csv")
    return found[found["backend"] == keras.backend.backend()].drop(columns="backend")


def test_the_numbers_are_those_of_the_old_version(searched):
    table = searched.table.drop(columns="seconds")
    old = expected("table").set_index("activation")
    pd.testing.assert_frame_equal(table, old, rtol=1e-4)
    trials = expected("trials").sort_values("score", ignore_index=True)
    own = searched.trials.drop(columns="seconds")
    trials = trials.drop(columns="trial").astype({"epochs": float})
    pd.testing.assert_frame_equal(own, trials, rtol=1e-4, check_dtype=False)


@once
def test_gain_and_interval_follow_from_the_best_trial_of_each_fold(searched, folder):
    """They are recomputed from the records with pandas and SciPy."""
    found = records(folder)
    found = found[found["activation"].isin(["relu", "vaf-searched"])]
    best = found.loc[found.groupby(["activation", "fold"])["validation"].idxmin()]
    tested = best.pivot_table(index="fold", columns="activation", values="test")
    gains = tested["relu"] - tested["vaf-searched"]

    row = searched.table.loc["VAF, searched"]

    factor = np.sqrt(1 / 3 + (1 / 3) / (1 - 1 / 3))
    half = stats.t.ppf(0.975, 2) * gains.std() * factor
    assert row["mean"] == pytest.approx(tested["vaf-searched"].mean())
    assert row["gain"] == pytest.approx(gains.mean())
    assert row["interval"] == pytest.approx(half)
    said = (searched.folder / "table.md").read_text()
    assert f"{gains.mean():+.4g} ± {half:.4g} |" in said


@once
def test_the_best_network_predicts_as_the_best_trial_on_all_rows(
    table, folder, searched
):
    def untrained(*_):
        raise AssertionError("every training is shared with the first search")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "train_networks", untrained)
        options = {"recipe": RECIPE, "output": folder, "verbose": False}
        alone = search(table, TRIALS, baselines=(), **options)
    best = alone.trials.iloc[0]
    kernels, start = independent_seeds(0, 3, "network", count=2)
    arguments = {name: best[name] for name in ("g", "sharing")} | {"k": int(best["k"])}
    random = best["initialization"] == "random"
    arguments["initialization"] = (
        RandomStart(seed=start) if random else best["initialization"]
    )
    network = mlp(3, (4,), 1, lambda: VAFActivation(**arguments), seed=kernels)
    network.compile(keras.optimizers.Adam(best["learning_rate"]), "mse")
    x, y = standardised(table.x, slice(None)), standardised(table.y, slice(None))
    [seed] = independent_seeds(0, 3, "shuffling")
    trained_by_batches(network, x, y, round(best["epochs"]), 32, seed)

    model = keras.saving.load_model(alone.folder / "best.keras", safe_mode=True)
    encoder = encoder_of(model)
    inputs = {column.name: table.x[:, n] for n, column in enumerate(encoder.columns)}
    predicted = model.predict(encoder.encode(inputs), verbose=0)

    outputs = network.predict(x, verbose=0) * table.y.std() + table.y.mean()
    assert np.ptp(outputs) > 1
    np.testing.assert_allclose(predicted, outputs, rtol=1e-5)


@once
def test_more_trials_give_the_others_more_learning_rates(table, tmp_path):
    found = search(
        table, 8, baselines="relu", recipe=SHORT, output=tmp_path, verbose=False
    )
    own = found.records[found.records["activation"] == "relu"]
    rates = sorted(own["learning_rate"].unique())
    assert {0.01, 0.1} <= set(rates)
    assert len(rates) == 8
    np.testing.assert_allclose(np.diff(np.log(rates)), np.log(10) / 7, rtol=0.02)
    assert len(found.trials) == 8


@once
@pytest.mark.parametrize("tuner", TUNERS)
def test_each_tuner_runs_its_number_of_trials(table, tmp_path, tuner):
    trials = 7 if tuner == "hyperband" else 2
    options = {"baselines": (), "recipe": SHORT, "output": tmp_path, "verbose": False}
    found = search(table, trials, tuner, **options)
    assert len(found.trials) == (6 if tuner == "hyperband" else 2)
    epochs = set(found.drawn["epochs"])
    assert epochs == ({1, 3} if tuner == "hyperband" else {3})


@once
def test_the_trials_are_drawn_best_first(searched):
    scores = searched.trials["score"].tolist()
    assert scores == sorted(scores)
    frame = pd.read_csv(searched.folder / "trials.csv")
    assert frame["score"].tolist() == pytest.approx(scores)
    panels = plot_trials(searched.trials).axes
    names = ["k", "g", "sharing", "initialization", "learning_rate"]
    assert [panel.get_title("left") for panel in panels] == names
    shown = [label.get_text() for label in panels[1].get_xticklabels()]
    assert shown == sorted(searched.trials["g"].unique())
    own = searched.trials.groupby("g")["score"].median()
    heights = [lines.get_segments()[0][0][1] for lines in panels[1].collections]
    assert heights == pytest.approx(own.tolist())
    failed = searched.trials.assign(score=np.nan)
    with pytest.raises(ValueError, match="needs a completed trial"):
        plot_trials(failed)


@once
def test_a_trial_that_diverges_has_no_score(table, tmp_path):
    recipe = Recipe(
        hidden=(2,), learning_rates=(0.01, 0.02, 0.03, 1e30), folds=2, epochs=3
    )
    options = {"baselines": (), "output": tmp_path, "verbose": False}
    found = search(table, 6, recipe=recipe, **options)
    failed = found.trials["score"].isna()
    assert (failed == (found.trials["learning_rate"] == 1e30)).all()
    assert failed.any()
    assert not failed.iloc[0]
    assert found.choice[0].arguments["k"] == found.trials["k"].iloc[0]


@once
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tuner": "hyperband", "trials": 5}, "trials.*at least 6.*5"),
        ({"tuner": "luck"}, "tuner='luck'"),
        ({"recipe": Recipe(folds=61)}, "fewer folds"),
        ({"recipe": Recipe(learning_rates=(0.1,))}, "two learning rates"),
    ],
)
def test_a_search_that_cannot_begin_is_refused(table, tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        search(table, output=tmp_path, **options)
    assert not any(tmp_path.iterdir())
