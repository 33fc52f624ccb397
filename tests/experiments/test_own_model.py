"""`compare` with a model of one's own, against `fit` and `evaluate` by hand."""

from dataclasses import replace

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
PAIR = PICTURES, CLASSES
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


def error(**words):
    return lambda: {"loss": "mse"} | words


def classify():
    loss = keras.losses.SparseCategoricalCrossentropy()
    return {"loss": loss, "metrics": ["accuracy"]}


def two_ends():
    return {
        "loss": {"a": own_loss, "b": "sparse_categorical_crossentropy"},
        "loss_weights": {"a": 0.3, "b": 2.0},
        "metrics": {"b": ["accuracy"], "a": ["mae", own_metric]},
        "weighted_metrics": [None, ["accuracy"]],
    }


def with_functions():
    return {"loss": own_loss, "metrics": [own_metric, keras.metrics.R2Score()]}


CASES = {  # network, arguments of `compile`, data, score and metric
    "dense": (dense, error(metrics=["mae"]), (X, Y), "mae"),
    "functions": (dense, with_functions, (X, Y), "r2_score"),
    "convolutional": (convolutional, classify, PAIR, "accuracy"),
    "weights": (dense, error(), (X, Y, WEIGHTS), "loss"),
    "normalized": (normalized, error(), (X, Y), "loss"),
    "several": (several, two_ends, ([X, PICTURES], [Y, CLASSES]), "b_accuracy"),
}
ARMS_TRIED = {
    "as-it-is": lambda model: model,
    "vaf": keras_vaf.convert,
    "silu": lambda m: keras_vaf.convert(
        m, to=lambda _: keras.layers.Activation("silu")
    ),
}


def builder(network, arguments, optimizer=without_decay):
    """Return the function that a user gives to `compare`."""

    def build():
        model = network()
        model.compile(optimizer(), **arguments())
        return model

    return build


small = builder(convolutional, classify)


def compared(folder, data=PAIR, model=small, **words):
    words = {"recipe": RECIPE, "output": folder, "verbose": False} | words
    words = {"activations": ",".join(ARMS_TRIED)} | words
    return compare(data, model=model, **words)


@pytest.mark.parametrize("case", CASES)
def test_a_record_is_what_fit_and_evaluate_give(case, tmp_path):
    network, arguments, data, score = CASES[case]
    words = {"metric": f"val_{score}", "mode": "max"} if case == "several" else {}
    build = builder(network, arguments)
    words["recipe"] = replace(RECIPE, folds=2)  # which JAX trains as one program
    found = compared(tmp_path, data, build, seeds=(3,), **words)
    parts = folds_of(found.dataset, found.recipe, 3)[1].rows
    assert sorted(np.concatenate(parts)) == [*range(ROWS)]
    own = select(found.records[found.records["fold"] == 1]).set_index("activation")
    for arm, changed in ARMS_TRIED.items():
        row = own.loc[arm]
        keras.utils.set_random_seed(*independent_seeds(3, 1, "network"))
        model = changed(network())
        model.compile(without_decay(), **arguments())
        model.optimizer.learning_rate = row["learning_rate"]
        for rows, name in zip(parts, ("", "validation", "test"), strict=True):
            x, y, *weights = keras.tree.map_structure(lambda a, r=rows: a[r], data)
            words = {"sample_weight": weights[0] if weights else None, "verbose": 0}
            if not name:  # fewer rows than a batch: one batch for each epoch
                epochs = int(row["best_epoch"])
                model.fit(x, y, epochs=epochs, shuffle=False, **words)
                continue
            by_hand = model.evaluate(x, y, return_dict=True, **words)[score]
            np.testing.assert_allclose(row[name], by_hand, rtol=1e-4, err_msg=name)
        assert row["parameters"] == sum(w.numpy().size for w in model.trainable_weights)


@once
def test_files_and_a_second_run_are_those_of_a_table(tmp_path):
    found = compared(tmp_path)
    assert found.table.index.tolist() == ["the model as it is", "VAF", "SiLU"]
    names = {path.name for path in found.folder.iterdir()}
    assert {"table.md", "comparison.png", "best.keras"} <= names
    text = (found.folder / "table.md").read_text()
    assert text.startswith("# Accuracy on own data, model small\n")
    assert found.best_model.evaluate(*PAIR, verbose=0)
    titles = [ax.get_title(loc="left") for ax in found.plot().axes]
    assert "VAF: activation 1 of 1" in titles
    [file] = tmp_path.glob("*.jsonl")
    lines = [line for line in file.read_text().splitlines() if line]
    assert len(lines) == 3 * 3 * 2  # arms, seeds and learning rates
    file.write_text("\n".join(lines[:-3]))
    pd.testing.assert_frame_equal(
        compared(tmp_path).records.drop(columns="seconds"),
        found.records.drop(columns="seconds"),
    )
    assert len(records(tmp_path)) == len(lines)


@once
def test_the_arms_of_a_trained_model_are_itself_and_its_copies(tmp_path):
    model = small()
    model.fit(*PAIR, verbose=0)
    model.save(tmp_path / "model.keras")
    before, start = model.evaluate(*PAIR, verbose=0), model.get_weights()
    rows = PICTURES[:12] + 1, CLASSES[:12]
    for given in (model, tmp_path / "model.keras"):
        words = {"activations": None, "test_data": rows, "seeds": (0, 1, 2)}
        found = compared(tmp_path / "runs", model=given, **words)
        own = found.records.groupby("activation")["test"]
        unchanged = model.evaluate(*rows, verbose=0)[1]
        np.testing.assert_allclose(own.get_group("unchanged"), unchanged)
        assert [*own.groups] == ["as-it-is", "unchanged", "vaf"]
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


class OwnStep(keras.Sequential):
    def train_step(self, *arguments):
        return super().train_step(*arguments)


class Called(keras.Model):
    def call(self, x):
        return keras.ops.mean(x, axis=(1, 2))


def mean(y, predicted):
    return keras.ops.mean(predicted)


def scheduled():
    return keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(0.1, 10))


ONE = builder(dense, error())()
HEAD = [keras.Input((4,)), keras.layers.Dense(1)]
REFUSED = {
    "compiled Keras model": {"model": dense},
    "defines `train_step`": {"model": builder(lambda: OwnStep(HEAD), error())},
    "Sequential or Functional": {"model": builder(Called, error()), "data": PAIR},
    "a number, not a sched": {"model": builder(dense, error(), scheduled)},
    "new model and a new optimizer": {"model": lambda: ONE},
    "Nothing to replace": {"model": builder(lambda: keras.Sequential(HEAD), error())},
    "cannot use the data": {"data": (PICTURES[:, :2], CLASSES), "model": small},
    "same number of rows": {"data": (PICTURES[:9], CLASSES)},
    "must be a pair": {"data": iter(PAIR)},
    "the form of `data`": {"test_data": (PICTURES[:, :2], CLASSES)},
    "needs `test_data`": {"model": ONE},
    "needs the largest number of `epochs`": {"recipe": None},
    "`hidden` of a recipe is for tables": {"recipe": Recipe(hidden=(5,))},
    "Did you mean 'val_loss'": {"metric": "val_los"},
    "give `mode`": {
        "model": builder(dense, error(metrics=[mean])),
        "metric": "val_mean",
    },
    "needs the metric that decides.*val_b_accuracy": {
        "model": builder(several, two_ends),
        "data": CASES["several"][2],
    },
    "belongs to a `model`": {"model": None, "epochs": 5, "data": "wine"},
}


@once
@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_compared_is_refused_before_the_first_training(
    message, tmp_path
):
    words = {"model": builder(dense, error()), "data": (X, Y)} | REFUSED[message]
    with pytest.raises(ValueError, match=message):
        compared(tmp_path, activations=None, **words)
    assert not list(tmp_path.glob("*.jsonl"))
