"""The results of `compare`, against networks trained in another way."""

import importlib
import json
import shutil
import sys
from dataclasses import replace

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.datasets import load
from keras_vaf.experiments import Arm, Recipe, compare, find_arms, records, run, select
from keras_vaf.experiments.recipe import folds_of
from keras_vaf.models import mlp
from keras_vaf.training.recipe import LEARNING_RATES
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.utils import write_atomically
from tests.reference_training import recorded, standardised, trained_by_batches

late = pytest.mark.nightly("tensorflow", "jax")  # which compile each training

FOLDS, EPOCHS, BATCH = 3, 6, 8
SIZES = {"hidden": (5, 3), "folds": FOLDS, "epochs": EPOCHS, "batch_size": BATCH}
RECIPE = Recipe(**SIZES, learning_rates=(1e-5, 0.003, 0.02))
TINY = Recipe(hidden=(2,), folds=np.int64(2), epochs=1, learning_rates=(0.1,))


@pytest.fixture(scope="module")
def compared(classes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    return compare(classes, "vaf-random", RECIPE, output=folder, verbose=False)


@pytest.fixture(scope="module")
def regressed(numbers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    return compare(numbers, "vaf-random", RECIPE, output=folder, verbose=False)


def trained(data, outputs, loss, fold, rate, epochs):
    """Train the network of the VAF in another way, on scaled inputs and targets."""
    kernels, *starts = independent_seeds(0, fold, "network", count=3)
    [arm], seeds = find_arms("vaf-random"), iter(starts)
    inputs = data[0].shape[1]
    network = mlp(inputs, (5, 3), outputs, lambda: arm.build(next(seeds)), seed=kernels)
    network.compile(keras.optimizers.Adam(rate), loss)
    [seed] = independent_seeds(0, fold, "shuffling")
    return trained_by_batches(network, *data, epochs, BATCH, seed)


@late
def test_best_network_classifies_as_one_trained_with_the_selected_rate(
    compared, classes
):
    x = standardised(classes.x, slice(None))
    cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    own = select(compared.records)
    own = own[own["activation"] == "vaf-random"]
    rate = own["learning_rate"].mode()[0]
    epochs = round(own["best_epoch"][own["learning_rate"] == rate].median())
    network = trained((x, classes.y), 2, cross_entropy, FOLDS, rate, epochs)
    logits = network.predict(x, verbose=0)

    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    expected = odds / odds.sum(axis=1, keepdims=True)
    assert np.ptp(expected[:, 0]) > 0.1
    encoder = compared.best_model.layers[0]
    rows = {name: classes.x[:, n] for n, name in enumerate(classes.feature_names)}
    predicted = compared.best_model.predict(encoder.encode(rows), verbose=0)
    np.testing.assert_allclose(predicted, expected, atol=1e-4)


@late
def test_a_network_trained_without_keras_vaf_training_has_the_score_of_its_record(
    regressed, numbers
):
    own = select(regressed.records)
    for fold in folds_of(numbers, RECIPE, seed=0):
        which = (own["activation"] == "vaf-random") & (own["fold"] == fold.number)
        [record] = own[which].to_dict("records")
        x, y = (standardised(each, fold.rows.train) for each in (numbers.x, numbers.y))
        train, rate = fold.rows.train, record["learning_rate"]
        own_rows, epochs = (x[train], y[train]), int(record["best_epoch"])
        network = trained(own_rows, 1, "mse", fold.number, rate, epochs)

        outputs = network.predict(x[fold.rows.test], verbose=0)[:, 0]

        scale = numbers.y[train]
        errors = outputs * scale.std() + scale.mean() - numbers.y[fold.rows.test]
        found = np.sqrt(np.mean(errors**2))
        assert found == pytest.approx(record["test"], rel=1e-3)


@late
def test_references_have_the_scores_of_scikit_learn(regressed, numbers):
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found = regressed.records.set_index(["activation", "fold"])["test"].sort_index()
    for fold in folds_of(numbers, RECIPE, seed=0):
        train, _, test = fold.rows
        y = numbers.y[train]
        [seed] = independent_seeds(0, fold.number, "trees")
        trees = HistGradientBoostingRegressor(early_stopping=False, random_state=seed)
        linear = make_pipeline(StandardScaler(), Ridge())
        models = {"linear": linear, "trees": trees}
        for name, model in models.items():
            scaled = model.fit(numbers.x[train], (y - y.mean()) / y.std())
            outputs = scaled.predict(numbers.x[test]) * y.std() + y.mean()
            error = np.sqrt(np.mean((outputs - numbers.y[test]) ** 2))
            assert error == pytest.approx(found[name, fold.number], rel=1e-4)


@late
def test_the_files_say_what_was_compared_and_learned(compared):
    assert {path.name for path in compared.folder.iterdir()} == {
        *("best.keras", "comparison.png", "table.md")
    }
    text = (compared.folder / "table.md").read_text()
    assert text.startswith("# Accuracy on toy, hidden layers 5-3\n\n| activation |")
    assert f"\n{compared.advice}\n" in text
    assert "best.keras is the network with VAF, random start, trained again on" in text
    figure = compared.plot()
    assert figure.get_figwidth() <= 5.6  # letters of 9 points have 8 pixels on a phone
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert "Accuracy on toy, hidden layers 5-3\n(majority class: 0.5000)" in titles
    assert "VAF, random start: activation 2 of 2" in titles
    [settings] = compared.folder.parent.glob("recipe-*.json")
    assert json.loads(settings.read_text())["hidden"] == [5, 3]


@pytest.mark.backend("torch")  # which compiles nothing
def test_a_second_run_trains_only_what_is_missing_or_damaged(numbers, tmp_path):
    words = {"output": tmp_path, "verbose": False}
    found = compare(numbers, "relu", TINY, **words)
    weights = found.best_model.get_weights()
    (found.folder / "best.keras").write_bytes(b"no archive")

    again = compare(numbers, "relu", TINY, **words)

    pd.testing.assert_frame_equal(again.records, found.records)  # also the seconds
    for one, other in zip(weights, again.best_model.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    [file] = tmp_path.glob("*.jsonl")  # whose best epochs change, so best.keras does
    file.write_text(file.read_text().replace('"best_epoch": 1', '"best_epoch": 3'))
    longer = compare(numbers, "relu", TINY, **words).best_model.get_weights()
    assert not np.allclose(longer[0], weights[0])
    names = ("a", "new")
    named = replace(numbers, feature_names=names, columns=())
    model = compare(named, "relu", TINY, **words).best_model
    assert tuple(column.name for column in model.layers[0].columns) == names
    moved = replace(numbers, name="moved")
    more = compare(moved, "tanh,relu", TINY, **words)
    assert len(records(tmp_path)) == len(more.records) == len(found.records) + 2
    assert more.folder != found.folder


@pytest.mark.backend("torch")  # which compiles nothing
def test_records_of_another_fit_are_not_reused(numbers, tmp_path):
    arguments = {"k": 2, "g": "relu", "initialization": "tanh"}
    fitted = Arm("own", "VAF, tanh start", "VAFActivation", arguments)
    exact = find_arms("vaf-relu")
    for more in (0, 2, 0):  # trainings in two folds
        before = records(tmp_path)
        compare(numbers, (fitted, *exact), TINY, output=tmp_path, verbose=False)
        if len(before):
            assert len(records(tmp_path)) == len(before) + more
        else:  # as they were named before the fit was another one
            for path in tmp_path.glob("*.jsonl"):
                path.write_text(path.read_text().replace(fitted.key[0], "own"))


@pytest.mark.backend("torch")  # which compiles nothing
def test_names_of_the_command_line_and_arms_of_ones_own(tmp_path, capsys, data_dir):
    own = (Arm("elu-2", "ELU, 2", "ELU", {"alpha": 2.0}), *find_arms("relu"))

    old = tmp_path / "old" / "seed-0-fold-00.json"  # of version 0.3.0
    write_atomically(old, "{}")

    found = compare("wine", own, TINY, output=tmp_path, seeds=np.array([0, 5]))

    assert found.table.index.tolist() == [
        *("ELU, 2", "ReLU", "logistic regression", "gradient boosted trees"),
        "majority class",
    ]
    assert found.dataset.checksum == load("wine").checksum
    assert set(records(tmp_path)["seed"]) == {0, 5}
    said = capsys.readouterr().err.strip().splitlines()
    assert said[0] == (
        f"Training: 16 models. Results of version 0.3.0, such as {old}, are not read."
    )
    assert said[2].startswith("ELU, 2, seed 5: 4 of 16 in ")  # arms before seeds
    version = importlib.metadata.version("keras_vaf")
    assert f"keras_vaf {version}, native kernels " in found.records["environment"][0]
    assert said[1].startswith("ELU, 2, seed 0: 2 of 16 in ")
    assert said[-1].startswith("gradient boosted trees, seed 5: 16 of 16 in ")


@pytest.mark.backend("torch")
def test_the_vaf_starts_at_the_best_fixed_function_and_is_shown(numbers, tmp_path):
    words = {"recipe": TINY, "output": tmp_path, "verbose": False}
    x = np.where([True, False], np.nan, numbers.x).astype("float32")
    numbers = replace(numbers, x=x)  # a column without a value
    found = compare(numbers, "relu,silu,prelu,vaf", **words)
    assert found.table["mean"].notna().all()

    [name] = {*found.records["activation"]} & {"vaf-relu", "vaf-silu"}
    fixed = found.records.groupby("activation")["validation"].mean()
    assert fixed[["relu", "silu"]].idxmin() == name.removeprefix("vaf-")
    title = f"VAF from {'SiLU' if name == 'vaf-silu' else 'ReLU'}"
    assert title in found.table.index
    titles = [ax.get_title(loc="left") for ax in found.plot().axes]
    assert f"{title}: activation 1 of 1" in titles
    assert all((found.folder / file).is_file() for file in found.files)
    assert ("best_vaf.keras" in found.files) == (found.choice[0].name != name)
    count = len(records(tmp_path))
    compare(numbers, f"relu,silu,prelu,{name},vaf", **words)
    assert len(records(tmp_path)) == count  # the same VAF, once


@pytest.mark.backend("tensorflow")
def test_rows_with_missing_entries_are_left_out_and_categories_are_other_data(numbers):
    x = numbers.x.copy()
    x[[3, 30], 0] = np.nan
    dataset = replace(numbers, x=x)
    for missing, rows in (("drop", 38), ("mean", 40)):
        folds = folds_of(dataset, Recipe(folds=2, missing=missing), seed=0)
        assert len(np.concatenate([fold.rows.test for fold in folds])) == rows
    kinds = (replace(numbers, categories={0: names}) for names in ("ab", "abc"))
    assert len({TINY.digest(each) for each in (numbers, *kinds)}) == 2


@pytest.mark.backend("tensorflow")
def test_all_get_a_further_learning_rate_if_one_selects_an_edge(
    numbers, tmp_path, monkeypatch, capsys
):
    falling = recorded(lambda arm, fold, rate: 1 / rate)  # with the learning rate
    monkeypatch.setattr(run, "train_networks", falling)
    monkeypatch.setattr(run, "_TEN_MINUTES", 0)
    recipe = Recipe(hidden=(2,), folds=2)
    study = run.Study(numbers, find_arms("relu,tanh"), recipe, (0,), tmp_path)

    found = run.train_missing(study)

    said = capsys.readouterr().err
    assert "16 models. Further learning rates follow if the best one is at" in said
    for rate in ("0.03", "0.09"):
        assert f"Training with learning rate {rate}: 4 models." in said
    assert "20 of 24 are done." in said
    assert said.count("It begins again: KERAS_BACKEND=jax.") == 3
    expected = [*LEARNING_RATES, 0.03, 0.09]  # twice, by a factor of 3
    assert (
        found.groupby(["activation", "fold"])["learning_rate"].apply(list).tolist()
        == [expected] * 4
    )


@pytest.mark.backend("torch")
def test_a_folder_that_is_deleted_meanwhile_is_named(numbers, tmp_path, monkeypatch):
    append = run.append

    def deleted_after_the_last(folder, row):
        append(folder, row)
        if row["activation"] == "trees" and row["fold"] == 1:
            shutil.rmtree(folder)

    monkeypatch.setattr(run, "append", deleted_after_the_last)
    with pytest.raises(OSError, match=f"disappeared from {tmp_path / 'o'}"):
        compare(numbers, "relu", TINY, output=tmp_path / "o", verbose=False)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"activations": find_arms("relu") * 2}, "each other. Received: relu,relu"),
        ({"activations": ["relu"]}, "`activations` must be a sequence of Arm"),
        ({"activations": ()}, "number of activations` must be an integer"),
        ({"quick": True}, "`quick` replaces the recipe"),
        ({"data": "table.csv"}, "--target COLUMN"),
        ({"data": pd.DataFrame({"a": [1]})}, "`target`, which a `Dataset` has"),
        ({"recipe": Recipe(optimizer="Adamm")}, "Did you mean 'Adam'"),
        ({"activations": [Arm("a", "A", "VAFActivation", {"k": 0})]}, "k=0"),
    ],
)
def test_refuses_before_the_first_training(classes, tmp_path, words, message):
    given = {"data": classes, "recipe": RECIPE} | words

    with pytest.raises(ValueError, match=message):
        compare(**given, output=tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.backend("tensorflow")
def test_a_missing_package_is_named_before_the_first_training(
    classes, tmp_path, monkeypatch
):
    folds_of(classes, RECIPE, seed=0)  # imports scikit-learn, which needs SciPy
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r"`scipy`.*'keras-vaf\[experiments\]'"):
        compare(classes, "relu", RECIPE, output=tmp_path)
    assert list(tmp_path.iterdir()) == []
