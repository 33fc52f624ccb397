"""The census counts what the backend computes, independently of any report."""

from pathlib import Path

import keras
import numpy as np
from keras import layers, ops

from keras_vaf.models import convert
from tests.models import blocks
from tests.zoo.conversions import records
from tests.zoo.conversions.census import Call, census
from tests.zoo.conversions.tables import markdown

X = np.ones((2, 5, 4), "float32")
MODELS = Path(__file__).parents[2] / "docs/reports/models"


def calls_of(model):
    return census(lambda: model(X, training=False))


def test_each_place_counts_once():
    shared = layers.Dense(4, "tanh", name="shared")
    inputs = keras.Input((5, 4))
    x = ops.relu(shared(shared(inputs)))
    x = blocks.Inline(name="inline")(x)
    x = blocks.Feedforward(6, name="block")(x)
    model = keras.Model(inputs, layers.Softmax()(x), name="model")
    relu = next(each.name for each in model.operations if "relu" in each.name)
    assert calls_of(model) == {
        Call("model/shared", "tanh", 0),
        Call(f"model/{relu}", "relu", 0),
        Call("model/inline", "gelu", 0),
        Call("model/block/inner", "gelu", 0),
    }


def test_calls_of_one_layer_are_told_apart():
    class Twice(layers.Layer):
        def call(self, inputs):
            return ops.gelu(inputs) + ops.gelu(2 * inputs)

    layer = Twice(name="twice")
    calls = census(lambda: (layer(X), layer(X)))
    assert {call.number for call in calls} == {0, 1}


def test_trainable_activations_do_not_count():
    model = keras.Sequential([keras.Input((5, 4)), blocks.Feedforward(6)])
    model.add(layers.Dense(1))
    assert len(calls_of(model)) == 1
    assert calls_of(convert(model)) == set()


def test_the_table_shows_what_failed(tmp_path):
    shared = {"exist": 2, "left": [], "deviation": 0.0}
    good = {
        **shared,
        "name": "a/Good",
        "replaced": 2,
        "reported": 2,
        "kept": [
            "c: tanh kept, it is a gate",
            "d: tanh kept, it is a gate",
            "e: Softmax kept, softmax looks at several elements at once",
        ],
        "trained": {"changed": [True, False], "activations": 2},
        "reloaded": 1e-7,
        "frozen": "ValueError: no configuration",
    }
    reason = "Nothing to replace. Received: a model with b: gelu kept, code calls it"
    bad = {"name": "a/Bad", "exist": 1, "replaced": 0, "reason": reason}
    path = tmp_path / "conversions.csv.xz"
    versions = {"backend": "jax", "keras": "3", "date": "today"}
    records.write(path, "# a", [records.row_of(versions, each) for each in (good, bad)])
    about, rows = records.read(path)
    text = markdown(rows)
    assert about == "# a" and [row["model"] for row in rows] == ["a/Bad", "a/Good"]
    assert "| a/Good | 2 / 2 | 0 | 0.0e+00 | 1 of 2 | 1.0e-07 | see 2 |" in text
    assert "| tanh | it is a gate | a/Good (2) |\n\n1. " in text
    assert "1. Nothing was replaced. b: gelu kept, code calls it" in text
    assert "2. ValueError: no configuration" in text


def test_the_committed_table_is_that_of_the_committed_rows():
    about, rows = records.read(MODELS / "conversions.csv.xz")
    assert about.startswith("# command: python -m tests.zoo.conversions; ")
    assert markdown(rows) == (MODELS / "conversions.md").read_text("utf-8")
    converted = [row for row in rows if not row["reason"]]
    assert len(rows) == 42 and len(converted) == 29
    assert max(float(row["deviation"]) for row in converted) < 1e-6
