"""The census counts what the backend computes, independently of any report."""

from pathlib import Path

import keras
import numpy as np
from keras import layers, ops

from keras_vaf.models import convert
from tests.models import blocks
from tests.zoo.conversions import __main__ as command
from tests.zoo.conversions.__main__ import about, markdown, read
from tests.zoo.conversions.census import Call, census
from tests.zoo.conversions.zoo import names

X = np.ones((2, 5, 4), "float32")
FILE = Path(__file__).parents[2] / command.FILE


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


def test_trainable_activations_do_not_count():
    model = keras.Sequential([keras.Input((5, 4)), blocks.Feedforward(6)])
    model.add(layers.Dense(1))
    assert len(calls_of(model)) == 1
    assert calls_of(convert(model)) == set()


def test_the_committed_table_is_that_of_the_committed_rows():
    rows = read(FILE)
    assert about(FILE, {}).startswith("# command: python -m tests.zoo.conversions; ")
    assert markdown(rows) == FILE.with_name("conversions.md").read_text("utf-8")
    converted = rows[rows.reason == ""]
    assert sorted(rows.model) == sorted(names()) and len(converted) == 29
    assert converted.deviation.astype(float).max() < 1e-6
