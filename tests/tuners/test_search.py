"""A search as a comparison, against numbers and networks made in another way."""

from dataclasses import replace
from pathlib import Path

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Recipe, compare, refit, run
from keras_vaf.tuners import SearchSpace, activation, search
from keras_vaf.tuners.table_search import LEARNING_RATES, SEARCHED

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
    options = {"recipe": RECIPE, "output": folder, "verbose": False}
    return search(table, TRIALS, baselines="relu,silu", **options)


def expected(name):
    """Return the numbers of commit 551fad3; those of fitted starts are of 0.5.0."""
    found = pd.read_csv(EXPECTED / f"{name}.csv")
    return found[found["backend"] == keras.backend.backend()].drop(columns="backend")


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_the_numbers_are_those_of_the_old_version(searched):
    table = searched.table.drop(columns="seconds")
    old = expected("table").set_index("activation")
    pd.testing.assert_frame_equal(table, old, rtol=1e-4)
    trials = expected("trials").sort_values("score", ignore_index=True)
    own = searched.trials.drop(columns="seconds")
    trials = trials.drop(columns="trial").astype({"epochs": float})
    pd.testing.assert_frame_equal(own, trials, rtol=1e-4, check_dtype=False)
    written = pd.read_csv(searched.folder / "trials.csv").drop(columns="seconds")
    pd.testing.assert_frame_equal(written, own, check_dtype=False)


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
    arguments = best[["k", "g", "sharing", "initialization"]].to_dict()
    settings = best["learning_rate"], round(best["epochs"])
    arm = replace(SEARCHED, arguments=arguments)
    expected = refit(table, arm, RECIPE, *settings).predict(table.x, verbose=0)
    predicted = alone.best_model.predict(table.x, verbose=0)
    assert np.ptp(expected) > 1
    np.testing.assert_allclose(predicted, expected, rtol=1e-5)


@once
def test_more_trials_give_the_others_more_learning_rates(table, tmp_path):
    options = {"recipe": SHORT, "output": tmp_path, "verbose": False}
    found = search(table, 8, baselines="relu", **options)
    own = found.records[found.records["activation"] == "relu"]
    rates = sorted(own["learning_rate"].unique())
    assert {0.01, 0.1} <= set(rates)
    assert len(rates) == 8
    np.testing.assert_allclose(np.diff(np.log(rates)), np.log(10) / 7, rtol=0.02)
    assert len(found.trials) == 8


@once
def test_a_trial_that_diverges_has_no_score(table, tmp_path):
    recipe = replace(SHORT, learning_rates=(0.01, 0.02, 0.03, 1e30))
    options = {"baselines": "none", "output": tmp_path, "verbose": False}
    found = search(table, 6, recipe=recipe, **options)
    failed = found.trials["score"].isna()
    assert (failed == (found.trials["learning_rate"] == 1e30)).all()
    assert failed.any()
    assert not failed.iloc[0]
    assert found.choice[0].arguments["k"] == found.trials["k"].iloc[0]
    recipe = replace(SHORT, learning_rates=(1e30, 1e31))
    none = search(table, 4, recipe=recipe, **options)
    assert none.trials["score"].isna().all()


@once
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tuner": "hyperband", "trials": 5}, "trials.*at least 6.*5"),
        ({"tuner": "luck"}, "tuner='luck'"),
        ({"recipe": Recipe(folds=61)}, "fewer folds"),
        ({"recipe": Recipe(learning_rates=(0.1,))}, "learning rates.*at least 2"),
    ],
)
def test_a_search_that_cannot_begin_is_refused(table, tmp_path, options, said):
    with pytest.raises(ValueError, match=said):
        search(table, output=tmp_path, **options)
    assert not any(tmp_path.iterdir())


@once
@pytest.mark.parametrize("drawn", [True, False])
def test_a_search_of_an_own_model_draws_its_values_and_goes_on(tmp_path, drawn):
    """A function without values gets drawn VAFs in place of its activations."""
    x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
    space = SearchSpace(k=(2, 3), g=("tanh",), sharing=("layer",))

    def made(units, hidden):
        layers = [keras.layers.Dense(units), hidden, keras.layers.Dense(1)]
        model = keras.Sequential([keras.Input((3,)), *layers])
        model.compile(keras.optimizers.SGD(0.05), "mse")
        return model

    def draw(hp):  # the name of a value that is no learning rate
        units = hp.Choice("learning_rate_units", [2, 4])
        return made(units, activation(hp, "first_", space=space))

    build = draw if drawn else lambda: made(3, keras.layers.Activation("tanh"))
    words = {"trials": 4, "model": build, "epochs": 2, "output": tmp_path}
    found = search((x, np.abs(x[:, :1])), verbose=False, **words)
    prefix, more = ("first_", {"learning_rate_units"}) if drawn else ("", set())
    values = {prefix + name for name in vars(space)} | more
    assert {*values, "learning_rate", "score"} <= {*found.trials.columns}
    others = {"the model as it is"} if drawn else {"the model as it is", "PReLU"}
    assert {*found.table.index} == others | {"VAF, searched"}
    arm, _ = found._selected(found.arms[0].key)
    network, best = found.dataset.network(arm, 0, 0), found.trials.iloc[0]
    assert {*arm.arguments} == values
    assert network.layers[0].units == best.get("learning_rate_units", 3)
    config = network.layers[1].get_config()
    for name in vars(space):
        assert config[name] == best[prefix + name] == arm.arguments[prefix + name]
    [file] = tmp_path.glob("*.jsonl")
    lines = file.read_text()
    again = search((x, np.abs(x[:, :1])), verbose=False, **words)
    assert file.read_text() == lines  # nothing is trained twice
    assert again.trials.equals(found.trials)
    if drawn:
        with pytest.raises(ValueError, match="`model` must take none"):
            compare((x, x[:, :1]), model=build, epochs=2, output=tmp_path)
