"""`compare` with a model of one's own, against trainings done in another way."""

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.experiments import Recipe, compare, records, select
from keras_vaf.experiments.arms import ARMS
from keras_vaf.experiments.own_model import own_model
from keras_vaf.experiments.recipe import folds_of
from keras_vaf.layers import VAFActivation
from keras_vaf.training.seeds import independent_seeds

once = pytest.mark.backend("torch")  # which compiles nothing

RECIPE = Recipe(learning_rates=(0.01, 0.1), folds=2, test_size=0.25, epochs=2)
ARMS_USED = "as-it-is,tanh,vaf"


def data(rows=40):
    x = np.random.default_rng(0).normal(size=(rows, 4, 4, 1)).astype("float32")
    return x, (x.mean((1, 2, 3)) > 0).astype("int64")


def build(metrics=("accuracy",)):
    layers = [
        keras.Input((4, 4, 1)),
        keras.layers.Conv2D(2, 3, activation="relu"),
        keras.layers.Flatten(),
        keras.layers.Dense(2, activation="softmax"),
    ]
    model = keras.Sequential(layers, name="small")
    loss = "sparse_categorical_crossentropy"
    model.compile(keras.optimizers.SGD(0.3), loss, metrics=list(metrics))
    return model


def compared(folder, model=build, activations=ARMS_USED, **words):
    words = {"recipe": RECIPE, "output": folder, "verbose": False} | words
    return compare(data(), activations, model=model, **words)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("own"))


@once
def test_a_record_has_the_score_of_a_training_with_fit(found):
    own = select(found.records)
    row = own[(own["activation"] == "as-it-is") & (own["fold"] == 1)].iloc[0]
    [kernels] = independent_seeds(0, 1, "network")
    keras.utils.set_random_seed(kernels)
    model, fold = build(), folds_of(found.dataset, found.recipe, 0)[1]
    model.optimizer.learning_rate = row["learning_rate"]
    x, y = data()
    train, validation, test = fold.rows
    best = int(row["best_epoch"])
    # Fewer rows than a batch: one batch for each epoch.
    model.fit(x[train], y[train], 32, epochs=best, verbose=0, shuffle=False)
    scores = [
        model.evaluate(x[rows], y[rows], verbose=0, return_dict=True)["accuracy"]
        for rows in (validation, test)
    ]
    np.testing.assert_allclose(row[["validation", "test"]].tolist(), scores, atol=1e-6)
    assert row["parameters"] == model.count_params()
    assert {*train} | {*validation} | {*test} == {*range(40)}
    assert len(test) == 10


@once
def test_the_files_are_those_of_a_table(found):
    names = {path.name for path in found.folder.iterdir()}
    assert {"table.md", "comparison.png", "best.keras"} <= names
    text = (found.folder / "table.md").read_text()
    assert text.startswith("# Accuracy on own data, model small\n")
    assert found.table.index.tolist() == ["as it is", "tanh", "VAF"]
    assert found.best_model.evaluate(*data(), verbose=0)
    titles = [ax.get_title(loc="left") for ax in found.plot().axes]
    assert "VAF: activation 1 of 1" in titles


@once
def test_a_second_run_trains_only_what_is_missing(found, tmp_path):
    output = found.folder.parent
    [file] = output.glob("*.jsonl")
    lines = [line for line in file.read_text().splitlines() if line]
    file.write_text("\n".join(lines[:-3]))
    again = compared(output)
    assert len(records(output)) == len(lines) == 12
    same = ["activation", "fold", "learning_rate", "test", "validation"]
    pd.testing.assert_frame_equal(again.records[same], found.records[same])
    other = compared(output, lambda: build(metrics=[]), "as-it-is")
    assert other.records["task"].unique() == ["minimize loss"]
    assert len(records(output)) == 16


@once
def test_every_arm_of_a_trained_model_starts_from_its_weights(tmp_path):
    model = build()
    model.save(tmp_path / "model.keras")
    for given in (model, tmp_path / "model.keras"):
        own = own_model(given, data())
        for name in ("as-it-is", "vaf", "prelu", "gelu"):
            network = own.network(ARMS[name], 0, 0)
            kernels = [w.numpy() for w in network.weights if w.path.endswith("kernel")]
            for kernel, mine in zip(kernels, model.get_weights()[::2], strict=True):
                np.testing.assert_array_equal(kernel, mine)
    assert own.checksum == own_model(model, data()).checksum
    assert own.checksum != own_model(build, data()).checksum


@once
def test_a_given_test_set_is_the_test_set_of_each_fold(tmp_path):
    x, y = data(12)
    words = {"test_data": (x + 1, y), "activations": "vaf"}
    found = compared(tmp_path, **words)
    for fold in folds_of(found.dataset, found.recipe, 0):
        np.testing.assert_array_equal(fold.rows.test, range(40, 52))
        np.testing.assert_array_equal(found.dataset.x[fold.rows.test], x + 1)


@once
def test_arms(tmp_path):
    own = own_model(build, data())
    names = "as-it-is", "relu", "vaf", "prelu", "gelu"
    kept = [arm.name for arm in own.arms([ARMS[name] for name in names])]
    assert kept == ["as-it-is", "vaf", "prelu", "gelu"]  # its functions are ReLU
    vaf = own.network(ARMS["vaf"], 0, 0)
    assert isinstance(vaf.layers[1], VAFActivation)
    x = data()[0]
    as_it_is = own.network(ARMS["as-it-is"], 0, 0)
    np.testing.assert_array_equal(vaf.predict(x), as_it_is.predict(x))
    assert own.network(ARMS["prelu"], 0, 0).layers[1].alpha.shape == (1, 1, 2)
    assert own.recipe(None, quick=False).learning_rates == (0.1, 0.3, 0.9)


@once
@pytest.mark.parametrize(
    ("metrics", "task"),
    [
        (["accuracy"], "maximize accuracy"),
        ([keras.metrics.SparseCategoricalCrossentropy(name="a")], "minimize a"),
        ([], "minimize loss"),
    ],
)
def test_the_first_metric_is_the_score(metrics, task):
    assert own_model(lambda: build(metrics), data()).task == task


@once
def test_models_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match="compiled Keras model"):
        own_model(lambda: keras.Sequential([keras.layers.Dense(1)]), data())
    with pytest.raises(ValueError, match="not a schedule"):
        own_model(scheduled, data())


def scheduled():
    model = build()
    rate = keras.optimizers.schedules.CosineDecay(0.1, 10)
    model.compile(keras.optimizers.SGD(rate), "mse")
    return model
