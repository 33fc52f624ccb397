"""`to_relu`: ReLU alone, equal outputs when widened, and a report of what is left."""

import keras
import numpy as np
import pytest

from keras_vaf import layers
from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.models import convert, report, to_relu

pytestmark = pytest.mark.filterwarnings("ignore:.*far from the old ones")
L = keras.layers
ROWS = np.random.default_rng(0).normal(0, 2, (64, 6)).astype("float32")
IMAGES = np.random.default_rng(0).normal(size=(8, 12, 12, 3)).astype("float32")


def varied(model):
    """Return the model with other biases and statistics."""
    draw = np.random.default_rng(1)
    for weight in model.weights:
        if len(weight.shape) == 1:
            weight.assign(draw.uniform(0.5, 1.5, weight.shape))
    return model


def dense():
    return [
        L.Dense(8, use_bias=False, kernel_initializer=PortableGlorotUniform(0)),
        *(L.BatchNormalization(), L.Activation("silu")),
        *(L.Dropout(0.5), L.Dense(7, "gelu"), L.Dense(7, "relu"), L.Dense(5, "tanh")),
        L.Dense(2),
    ]


def convolutions():
    return [
        *(L.Conv2D(4, 3, padding="same"), L.BatchNormalization(), L.Activation("tanh")),
        *(L.Conv2D(6, 3, padding="same", activation="silu"), L.BatchNormalization()),
        *(L.AveragePooling2D(2, padding="same"), L.Conv2D(5, 3, 2, activation="elu")),
        *(L.Flatten(), L.Dense(6, "silu"), L.Dense(3)),
    ]


def sequential(parts, data):
    return varied(keras.Sequential([keras.Input(data.shape[1:]), *parts]))


def functional(parts, data):
    model = sequential(parts, data)
    return keras.Model(model.inputs[0], model.outputs[0])


def values(model, x):
    return keras.ops.convert_to_numpy(model(x, training=False))


def kinds(model):
    return [type(layer).__name__ for layer in model.layers]


@pytest.mark.parametrize(("parts", "data"), [(dense, ROWS), (convolutions, IMAGES)])
@pytest.mark.parametrize("make", [sequential, functional])
def test_widened_and_frozen_models_are_those_of_convert(make, parts, data):
    model = make(parts(), data)
    before = values(model, data)
    found = [to_relu(model, 3, data, widen) for widen in (False, True)]
    vafs = convert(model, g="relu", k=3, data=data)
    for each in found:
        assert "keras_vaf" not in each.to_json()
        np.testing.assert_allclose(values(each, data), values(vafs, data), atol=1e-5)
        gap = np.max(np.abs(values(each, data) - before))
        assert report(each).deviation == pytest.approx(gap, rel=1e-3)
    assert set(kinds(found[1])) <= {
        *("InputLayer", "Dense", "Conv2D", "AveragePooling2D", "Flatten"),
    }
    assert {getattr(each, "activation", None) for each in found[1].layers} <= {
        *(None, keras.activations.relu, keras.activations.linear)
    }
    np.testing.assert_array_equal(values(model, data), before)


def head_twice():
    inputs, head = keras.Input(IMAGES.shape[1:]), L.Conv2D(2, 3)
    hidden = L.Conv2D(3, 1, activation="silu")(inputs)
    return varied(keras.Model(inputs, head(hidden) + head(inputs)))


@pytest.mark.parametrize(
    "behind",
    [
        (L.ZeroPadding2D(), L.BatchNormalization(), L.Conv2D(2, 3)),
        (L.Flatten(), L.BatchNormalization(), L.Dense(2)),
        (L.Flatten(data_format="channels_first"), L.Dense(2)),
        (L.Conv2D(3, 1), layers.APL(seed=0), L.MaxPooling2D(), L.Dense(2)),
        (L.Conv2D(3, 1), layers.VAFActivation(sharing="neuron"), L.Conv2D(2, 3)),
        None,
    ],
)
def test_what_cannot_be_folded_computes_the_same(behind):
    parts = [L.Conv2D(4, 3, activation="silu"), *(behind or ())]
    model = sequential(parts, IMAGES) if behind else head_twice()
    made = [values(to_relu(model, 3, widen=each), IMAGES) for each in (False, True)]
    np.testing.assert_allclose(*made, rtol=1e-4, atol=1e-4)


def test_units_that_are_not_needed_go():
    model = sequential([L.Dense(8, "leaky_relu"), L.Dense(2)], ROWS)
    assert to_relu(model, 5, widen=True).layers[0].units == 16
    assert report(to_relu(model, 5)).deviation < 1e-5


def test_what_is_left_is_listed_with_the_reason():
    inputs = keras.Input((6,))
    x = L.Dense(8, "silu", name="twice")(inputs)
    y = L.Dense(8, "gelu", name="summed")(x)
    gate = L.Dense(8, "sigmoid", name="gate")(x)
    x = L.Multiply()([L.Add(name="sum")([x, y]), gate])
    x = L.Reshape((4, 2))(x)
    x = L.LSTM(3, name="cells")(x)
    model = keras.Model(inputs, L.Dense(2, "softmax", name="class")(x))
    made = to_relu(model, 3, ROWS, widen=True)
    remarks = {each.layer: each.remark for each in report(made).replaced}
    assert remarks == {
        "twice": "not folded, there is not exactly one layer behind 'twice_activation'",
        "summed": "not folded, 'sum' of class Add is behind it",
    }
    kept = {each.layer: each.kept for each in report(made).kept}
    assert kept["class"].startswith("it shapes an output of the model: compute it")
    assert kept["gate"].startswith("it is a gate that multiplies other values: a prod")
    assert "inside, and its gates: replace that layer" in kept["cells"]
    assert "5 Rescaling" not in str(report(made)) and "1 LSTM" in str(report(made))


@pytest.mark.parametrize(
    ("trained", "exact"),
    [
        (lambda: layers.VAFActivation(3, "silu", initialization="random"), False),
        (lambda: layers.SplineActivation(sharing="channel"), False),
        (lambda: layers.VAFActivation(3, "relu", initialization="random"), True),
        (lambda: layers.APL(), True),
        (lambda: L.ELU(alpha=0.7), False),
        (lambda: L.Activation(lambda x: x * keras.ops.sigmoid(1.7 * x)), False),
    ],
)
def test_trained_activations_are_replaced(trained, exact):
    model = sequential([L.Dense(4), trained(), L.Dense(2)], ROWS)
    draw = np.random.default_rng(2)
    for weight in model.layers[1].weights:
        weight.assign(np.asarray(weight) + 0.2 * draw.normal(size=weight.shape))
    gaps = []
    for data in (None, ROWS):
        made = to_relu(model, 7, data, widen=True)
        assert kinds(made) == ["Dense", "Dense"]
        gaps.append(np.std(values(made, ROWS) - values(model, ROWS)))
    assert gaps[1] < (1e-5 if exact else 0.05 * np.std(values(model, ROWS)))
    assert gaps[1] <= gaps[0] + 1e-6


def centred(x):
    return x - keras.ops.max(x)


@pytest.mark.parametrize(
    ("parts", "words", "message"),
    [
        ([L.Dense(2, "relu"), L.Dense(2)], {}, "has no activation to replace by ReLU"),
        ([L.Dense(2, "softmax")], {}, "no activation to replace .* softmax kept"),
        (
            [L.Softmax(), L.Activation(centred), L.Dense(2)],
            {},
            "several.* several el",
        ),
        ([L.Dense(2, "tanh"), L.Dense(2)], {"k": 1}, "'dense.*needs more hidden units"),
        ([L.Dense(2, "hard_tanh"), L.Dense(2)], {"k": 1}, "expected k >= 2"),
    ],
)
def test_bad_input_is_one_sentence(parts, words, message):
    model = sequential(parts, ROWS)
    with pytest.raises(ValueError, match=message):
        to_relu(model, **words)
