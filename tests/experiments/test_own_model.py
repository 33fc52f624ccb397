"""`compare` with a model of one's own, against `fit` and `evaluate` by hand."""

import keras
import numpy as np
import pandas as pd
import pytest

import keras_vaf
from keras_vaf.experiments import Recipe, compare, records, select
from keras_vaf.experiments.arms import ARMS
from keras_vaf.experiments.own_model import own_model
from keras_vaf.experiments.recipe import folds_of
from keras_vaf.layers import VAFActivation
from keras_vaf.training.seeds import independent_seeds

once = pytest.mark.backend("torch")  # which compiles nothing
RANDOM = np.random.default_rng(0)
ROWS = 40
X = RANDOM.normal(size=(ROWS, 4)).astype("float32")
Y = RANDOM.normal(size=(ROWS, 1)).astype("float32")
PICTURES = RANDOM.normal(size=(ROWS, 4, 4, 1)).astype("float32")
CLASSES = (PICTURES.mean((1, 2, 3)) > 0).astype("int64")
WEIGHTS = RANDOM.uniform(0, 2, ROWS).astype("float32")
RECIPE = Recipe(learning_rates=(0.01, 0.1), folds=1, test_size=0.25, epochs=3)


def dense():
    hidden = keras.layers.Dense(5, activation="tanh", kernel_regularizer="l2")
    return keras.Sequential([keras.Input((4,)), hidden, keras.layers.Dense(1)])


def convolutional():
    layers = [
        keras.layers.RandomTranslation(0.0, 0.0),
        keras.layers.Conv2D(2, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dense(2, activation="softmax"),
    ]
    return keras.Sequential([keras.Input((4, 4, 1)), *layers], name="small")


def normalized():
    layer = keras.layers.Normalization()
    layer.adapt(X * 3 + 1)
    return keras.Sequential([keras.Input((4,)), layer, *dense().layers])


def several():
    first, second = keras.Input((4,), name="p"), keras.Input((4, 4, 1), name="q")
    both = keras.layers.Concatenate()([first, keras.layers.Flatten()(second)])
    hidden = keras.layers.Dense(6, activation="gelu")(both)
    ends = keras.layers.Dense(1, name="a"), keras.layers.Dense(2, "softmax", name="b")
    return keras.Model([first, second], [end(hidden) for end in ends])


def own_loss(y, predicted):
    return keras.ops.mean(keras.ops.abs(y - predicted) ** 3, axis=-1)


def own_metric(y, predicted):
    return keras.ops.mean(keras.ops.abs(y - predicted) ** 4, axis=-1)


def without_decay():
    """An optimizer with a setting that its configuration does not hold."""
    optimizer = keras.optimizers.AdamW(0.3, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["kernel"])
    return optimizer


def classify():
    loss = keras.losses.SparseCategoricalCrossentropy()
    return {"loss": loss, "metrics": ["accuracy"]}


def two_ends():
    return {
        "loss": {"a": own_loss, "b": "sparse_categorical_crossentropy"},
        "loss_weights": {"a": 0.3, "b": 2.0},
        "metrics": {"b": ["accuracy"], "a": ["mae", own_metric]},
    }


def with_functions():
    return {"loss": own_loss, "metrics": [own_metric, keras.metrics.R2Score()]}


NONE = None, None
SEVERAL = [X, PICTURES], [Y, CLASSES]
CASES = {  # network, arguments of `compile`, data, metric and mode, score
    "dense": (dense, lambda: {"loss": "mse", "metrics": ["mae"]}, (X, Y), NONE, "mae"),
    "functions": (dense, with_functions, (X, Y), NONE, "r2_score"),
    "convolutional": (convolutional, classify, (PICTURES, CLASSES), NONE, "accuracy"),
    "weights": (dense, lambda: {"loss": "mse"}, (X, Y, WEIGHTS), NONE, "loss"),
    "normalized": (normalized, lambda: {"loss": "mse"}, (X, Y), NONE, "loss"),
    "several": (several, two_ends, SEVERAL, ("val_b_accuracy", "max"), "b_accuracy"),
}


def builder(network, arguments):
    """Return the function that a user gives to `compare`."""

    def build():
        model = network()
        model.compile(without_decay(), **arguments())
        return model

    return build


small = builder(convolutional, classify)
PAIR = PICTURES, CLASSES


def take(data, rows):
    return keras.tree.map_structure(lambda array: array[rows], data)


ARMS_TRIED = {
    "as-it-is": lambda model: model,
    "vaf": keras_vaf.convert,
    "silu": lambda m: keras_vaf.convert(
        m, to=lambda _: keras.layers.Activation("silu")
    ),
}


def scores(model, data, rows):
    x, y, *weights = take(data, rows)
    words = {"sample_weight": weights[0]} if weights else {}
    return model.evaluate(x, y, verbose=0, return_dict=True, **words)


@pytest.mark.parametrize("arm", ARMS_TRIED)
@pytest.mark.parametrize("case", CASES)
def test_a_record_is_what_fit_and_evaluate_give(case, arm, tmp_path):
    network, arguments, data, (metric, mode), score = CASES[case]
    found = compare(
        *(data, ",".join(dict.fromkeys(("as-it-is", arm))), RECIPE),
        model=builder(network, arguments),
        metric=metric,
        mode=mode,
        seeds=(3,),
        output=tmp_path,
        verbose=False,
    )
    own = select(found.records)
    row = own[own["activation"] == arm].iloc[0]
    [kernels] = independent_seeds(3, 0, "network")
    keras.utils.set_random_seed(kernels)
    model = ARMS_TRIED[arm](network())
    model.compile(without_decay(), **arguments())
    model.optimizer.learning_rate = row["learning_rate"]
    train, validation, test = folds_of(found.dataset, found.recipe, 3)[0].rows
    # Fewer rows than a batch: one batch for each epoch.
    words = {"epochs": int(row["best_epoch"]), "verbose": 0, "shuffle": False}
    x, y, *weights = take(data, train)
    model.fit(x, y, 32, sample_weight=weights[0] if weights else None, **words)
    for rows, name in ((validation, "validation"), (test, "test")):
        by_hand = scores(model, data, rows)[score]
        np.testing.assert_allclose(row[name], by_hand, rtol=1e-4, err_msg=name)
    assert row["parameters"] == sum(w.numpy().size for w in model.trainable_weights)
    assert {*train} | {*validation} | {*test} == {*range(ROWS)}


def compared(folder, model=small, activations="as-it-is,tanh,vaf", **words):
    words = {"recipe": RECIPE, "output": folder, "verbose": False} | words
    return compare(PAIR, activations, model=model, **words)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("own"))


@once
def test_the_files_are_those_of_a_table(found):
    names = {path.name for path in found.folder.iterdir()}
    assert {"table.md", "comparison.png", "best.keras"} <= names
    text = (found.folder / "table.md").read_text()
    assert text.startswith("# Accuracy on own data, model small\n")
    assert found.table.index.tolist() == ["as it is", "tanh", "VAF"]
    assert found.best_model.evaluate(*PAIR, verbose=0)
    titles = [ax.get_title(loc="left") for ax in found.plot().axes]
    assert "VAF: activation 1 of 1" in titles


@once
def test_a_second_run_trains_only_what_is_missing(found):
    output = found.folder.parent
    [file] = output.glob("*.jsonl")
    lines = [line for line in file.read_text().splitlines() if line]
    assert len(lines) == 3 * 3 * 2  # arms, seeds and learning rates
    file.write_text("\n".join(lines[:-3]))
    again = compared(output)
    same = ["activation", "seed", "learning_rate", "test", "validation"]
    pd.testing.assert_frame_equal(again.records[same], found.records[same])
    assert len(records(output)) == len(lines)


@once
def test_the_arms_of_a_trained_model_are_itself_and_its_copies(tmp_path):
    model = small()
    model.fit(*PAIR, verbose=0)
    model.save(tmp_path / "model.keras")
    before, start = model.evaluate(*PAIR, verbose=0), model.get_weights()
    rows = PICTURES[:12] + 1, CLASSES[:12]
    for given in (model, tmp_path / "model.keras"):
        words = {"activations": None, "test_data": rows, "seeds": (0, 1, 2)}
        found = compared(tmp_path / "runs", given, **words)
        own = found.records.groupby("activation")["test"]
        unchanged = model.evaluate(*rows, verbose=0)[1]
        np.testing.assert_allclose(own.get_group("unchanged"), unchanged)
        assert found.table.index.tolist() == [
            "as it is",
            "VAF",
            "unchanged, not trained",
        ]
        for fold in folds_of(found.dataset, found.recipe, 0):
            np.testing.assert_array_equal(fold.rows.test, range(ROWS, ROWS + 12))
        text = (found.folder / "table.md").read_text()
        assert "the given model has not seen" in text
        assert "the intervals cover trainings" in text
        for name in ("as-it-is", "vaf", "prelu"):
            network = found.dataset.network(ARMS[name], 0, 0)
            weights = [w.numpy() for w in network.weights if "kernel" in w.path]
            for weight, mine in zip(weights, (start[0], start[-2]), strict=True):
                np.testing.assert_array_equal(weight, mine)
    assert len(records(tmp_path / "runs")) == 3 * 3 * 2  # the file is the same model
    np.testing.assert_array_equal(model.get_weights()[0], start[0])
    assert model.evaluate(*PAIR, verbose=0) == before


@once
def test_arms(tmp_path):
    own = own_model(small, PAIR)
    names = "as-it-is", "relu", "vaf", "prelu", "gelu"
    kept = [arm.name for arm in own.arms([ARMS[name] for name in names])]
    assert kept == ["as-it-is", "vaf", "prelu", "gelu"]  # its functions are ReLU
    assert isinstance(own.network(ARMS["vaf"], 0, 0).layers[2], VAFActivation)
    assert own.network(ARMS["prelu"], 0, 0).layers[2].alpha.shape == (1, 1, 2)
    assert own.recipe(None, 9, quick=False).learning_rates == (0.1, 0.3, 0.9)


def changed(**words):
    def build():
        model = convolutional()
        model.compile(**{"optimizer": "sgd"} | classify() | words)
        return model

    return build


class OwnStep(keras.Sequential):
    def train_step(self, *arguments):
        return super().train_step(*arguments)


class Called(keras.Model):
    def call(self, x):
        return keras.ops.mean(x, axis=(1, 2))


def of_class(kind, *layers):
    def build():
        model = kind(*layers)
        model.compile("sgd", "mse")
        return model

    return build


def scheduled():
    return keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 10))


def own(y, predicted):
    return keras.ops.mean(predicted)


ONE = dense()
ONE.compile("sgd", "mse")
HEAD = [keras.Input((4,)), keras.layers.Dense(1)]
REFUSED = {
    "compiled": ({"model": dense}, "compiled Keras model"),
    "class": ({"model": of_class(OwnStep, HEAD)}, "defines `train_step`"),
    "call": ({"model": of_class(Called)}, "Sequential or Functional"),
    "schedule": ({"model": lambda: changed(optimizer=scheduled())()}, "a number"),
    "same": ({"model": lambda: ONE, "data": (X, Y)}, "new model and a new optimizer"),
    "bare": ({"model": of_class(keras.Sequential, HEAD)}, "Nothing to replace"),
    "data": ({"data": (PICTURES[:, :2], CLASSES)}, "cannot use the data"),
    "rows": ({"data": (PICTURES[:9], CLASSES)}, "same number of rows"),
    "pair": ({"data": iter(PAIR)}, "must be a pair"),
    "test rows": ({"test_data": (PICTURES[:, :2], CLASSES)}, "the form of `data`"),
    "trained": ({"model": ONE, "data": (X, Y)}, "needs `test_data`"),
    "epochs": ({"recipe": None}, "needs the largest number of `epochs`"),
    "idle": ({"recipe": Recipe(hidden=(5,))}, "`hidden` of a recipe is for tables"),
    "metric": ({"metric": "val_acc"}, "Did you mean 'val_accuracy'"),
    "mode": ({"model": changed(metrics=[own]), "metric": "val_own"}, "give `mode`"),
    "table": ({"model": None, "epochs": 5, "data": "wine"}, "belongs to a `model`"),
}


@once
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_before_the_first_training(case, tmp_path):
    words, message = REFUSED[case]
    data = (X, Y) if case in ("class", "bare") else PAIR
    words = {"data": data, "model": small, "recipe": RECIPE} | words
    with pytest.raises(ValueError, match=message):
        compare(output=tmp_path, **words)
    assert not list(tmp_path.glob("*.jsonl"))


@once
def test_several_outputs_need_the_metric_that_decides():
    with pytest.raises(ValueError, match="val_b_accuracy"):
        own_model(builder(several, two_ends), SEVERAL)
    own = own_model(builder(several, two_ends), SEVERAL, None, "val_a_mae", "min")
    assert own.task == "minimize a_mae"
