"""A converted model is the same model, with activations that can be trained."""

import functools
import re

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.layers import KAF, Maxout, TrainableActivation, VAFActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import Change, ConversionReport, convert, freeze, report, simplify
from keras_vaf.ops import info
from keras_vaf.ops.activations import KERAS_NAMES, elementwise
from keras_vaf.ops.functions import get_function
from keras_vaf.optimizers import activations_apart
from tests.models.networks import (
    assert_equal_outputs,
    convolutional,
    functional,
    inputs_of,
    outputs_of,
    reasons,
    replaced,
    scatter,
    sequential,
    trained,
)

MODELS = [sequential, functional, convolutional]
REPLACED = {
    sequential: ["fused", "leaky", "capped"],
    functional: ["shared", "act", "inner/relu", "relu"],
    convolutional: [f"{kind}conv2d" for kind in ("", "depthwise_", "separable_")]
    + ["conv2d_transpose"],
}


def replaced_layers(model):
    return [*find_layers(model, VAFActivation).values()]


@pytest.mark.parametrize("make", MODELS)
class TestAnyModel:
    def test_is_the_same_model_with_other_activations(self, make, tmp_path):
        keras.utils.clear_session()
        model = scatter(make())
        before = model.get_config(), model.get_weights()
        converted = convert(model, sharing="channel")
        assert sorted(replaced(converted)) == sorted(REPLACED[make])
        added = converted.count_params() - model.count_params()
        assert report(converted).parameters == added > 0
        assert report(converted).error < 1e-6
        assert_equal_outputs(model, converted)
        converted.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert_equal_outputs(converted, loaded)
        assert type(loaded) is type(model)
        scatter(converted)  # the given model stays
        assert model.get_config() == before[0]
        for now, then in zip(model.get_weights(), before[1], strict=True):
            np.testing.assert_array_equal(now, then)

    def test_every_function_is_learned(self, make):
        converted = convert(scatter(make()), sharing="channel")
        moved = trained(converted, inputs_of(converted, samples=32))
        assert len(moved) == len(replaced_layers(converted)) == len(REPLACED[make])

    def test_in_place_uses_the_same_weights(self, make):
        model = scatter(make())
        same = convert(model)
        converted = convert(model, inplace=True)
        assert {id(v) for v in model.variables} <= {id(v) for v in converted.variables}
        assert_equal_outputs(same, converted)

    def test_a_second_time_changes_nothing(self, make):
        once = convert(make())
        twice = convert(once)
        assert report(twice).replaced == ()
        assert "it is trained already" in reasons(twice).values()
        assert twice.count_params() == once.count_params()
        assert_equal_outputs(once, twice)


@pytest.mark.parametrize(
    ("make", "chosen", "names"),
    [
        (sequential, "fused", ["fused"]),
        (sequential, "*a*", ["leaky", "capped"]),
        (sequential, layers.ReLU, ["capped"]),
        (sequential, lambda layer: layer.name < "g", ["capped", "fused"]),
        (sequential, ["fused", layers.LeakyReLU], ["fused", "leaky"]),
        (functional, "inner/*", ["inner/relu"]),
    ],
    ids=["name", "pattern", "class", "function", "several", "path"],
)
def test_chooses(make, chosen, names):
    found = convert(make(), layers=chosen)
    assert sorted(replaced(found)) == sorted(names)
    assert "it was not chosen" in reasons(found).values()


def test_prelu_keeps_its_slopes():
    inputs = keras.Input((4, 5))
    x = layers.PReLU("uniform", shared_axes=[1], name="some")(inputs)
    x = layers.PReLU("uniform", name="all")(layers.Dense(5)(x))
    model = scatter(keras.Model(inputs, layers.Dense(1)(x)))
    found = convert(model, k=4)
    assert_equal_outputs(model, found)
    assert found.get_layer("some").beta.shape == (5, 4)
    assert found.get_layer("all").beta.shape == (4, 5, 4)
    assert report(found).parameters == found.count_params() - model.count_params()


@pytest.mark.parametrize("inplace", [False, True])
def test_a_layer_given_to_another_layer(inplace):
    given = [layers.PReLU("uniform", name="given"), layers.LeakyReLU(0.1)]
    hidden = [layers.Dense(3, activation=activation) for activation in given]
    model = keras.Sequential([keras.Input((4,)), *hidden, layers.Dense(1)])
    x = inputs_of(model)
    (expected,) = outputs_of(model, x)  # builds the PReLU
    found = convert(model, inplace=inplace)
    np.testing.assert_allclose(outputs_of(found, x)[0], expected, 1e-5, 1e-6)
    assert len(report(found).replaced) == 2
    assert len(found.weights) == 3 * 2 + 2 * 4


@keras.saving.register_keras_serializable(package="test_convert")
def wave(x):
    return ops.sin(x)


# The places of each value in the input and in f are the same: some backends round the
# same value differently at different places.
PLACES = np.linspace(-20, 20, 804).astype("float32").reshape(-1, 2, 3)


@pytest.mark.parametrize("name", [name for name in KERAS_NAMES if name != "linear"])
def test_a_converted_activation_gives_the_same_numbers(name):
    stack = [keras.Input((2, 3)), layers.Activation(name), layers.Dense(1)]
    found = convert(keras.Sequential(stack))
    (layer,) = replaced_layers(found)
    lines = elementwise(get_function(name, "g")).lines
    assert layer.g is get_function("relu" if lines else name, "g")
    y = ops.convert_to_numpy(layer(PLACES))
    function = get_function(name, "g")
    expected = ops.convert_to_numpy(function(ops.convert_to_tensor(PLACES)))
    finite = np.isfinite(expected)
    rounded = np.count_nonzero(layer.get_weights()[2]) > 1  # of several units
    rounded |= not lines and info()["native kernels"].startswith("active")
    tolerance = 4 * np.finfo("float32").eps * (1 + np.abs(PLACES)) * rounded
    assert np.all(np.abs(y[finite] - expected[finite]) <= tolerance[finite])


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("activation", ["gelu", wave], ids=["gelu", "registered"])
def test_a_forced_g_gives_its_price(activation, tmp_path):
    layer = layers.Activation(activation, name="a")
    model = keras.Sequential([keras.Input((1,)), layer, layers.Flatten()])
    exact = convert(model, layers="a")
    assert report(exact).error < 1e-6
    with pytest.warns(UserWarning, match="largest error"):
        found = convert(model, layers="a", k=3, g="relu")
    x = np.linspace(-8, 8, 801, dtype="float32")[:, None]
    (expected,), (y,) = outputs_of(model, x), outputs_of(found, x)
    error = np.abs(y - expected).max()
    assert error > 0.01
    np.testing.assert_allclose(report(found).error, error, rtol=0.02)
    for each in (exact, found):
        each.save(tmp_path / "model.keras")
        assert_equal_outputs(each, keras.saving.load_model(tmp_path / "model.keras"))


NOT_KNOWN = {
    "zero": layers.ReLU(max_value=0.0, name="zero"),
    "ELU": layers.ELU(0.5),
    "lambda": layers.Activation(lambda x: ops.sin(x) + x / 8),
    "of four axes": layers.Activation(lambda x: ops.softmax(x, axis=3)),
    "a maximum": layers.Activation(lambda x: 0 * x + ops.max(x, keepdims=True)),
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_a_function_that_no_g_equals_is_kept(name):
    inputs = keras.Input((2, 2, 3))
    x = layers.Dense(3)(layers.ReLU()(NOT_KNOWN[name](inputs)))
    model = keras.Model(inputs, x)
    for arguments in ({}, {"g": "relu"}):
        found = convert(model, **arguments)
        assert_equal_outputs(model, found)
        reason = reasons(found)[NOT_KNOWN[name].name]
        assert re.search("exact|several elements|largest value is 0", reason)


def test_what_is_frozen_stays_frozen():
    model = functional()
    model.get_layer("shared").trainable = False
    model.get_layer("inner").trainable = False
    found = convert(model)
    assert not found.get_layer("shared_activation").trainable_weights
    assert not found.get_layer("inner").trainable_weights
    assert found.get_layer("act").trainable_weights


# Keras reads the learning rate of an optimizer inside an optimizer with NumPy.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_an_optimizer_for_other_weights_is_told():
    model = convert(sequential(), layers="fused")
    model.compile(activations_apart(model, "adam"), "mse")
    with pytest.warns(UserWarning, match="not compiled.*compile it again"):
        found = convert(model)
    assert model.compiled and not found.compiled
    x = inputs_of(model)
    assert not freeze(model).compiled
    assert simplify(model, 0.01, data=x).compiled


def test_precision_and_statistics_are_kept():
    normalization = layers.Normalization()
    normalization.adapt(np.random.default_rng(0).normal(5, 3, (50, 4)))
    hidden = layers.Dense(3, "relu", dtype="mixed_bfloat16")
    stack = [keras.Input((4,)), normalization, hidden, layers.Dense(1)]
    model = keras.Sequential(stack)
    found = convert(model)
    policies = [layer.dtype_policy.name for layer in found.layers]
    assert policies == ["float32", "mixed_bfloat16", "mixed_bfloat16", "float32"]
    assert_equal_outputs(model, found)


@pytest.mark.parametrize("to", [KAF, *TrainableActivation.__subclasses__()])
def test_to_any_of_the_family(to):
    model = keras.Sequential(
        [keras.Input((4,)), layers.Dense(3, "tanh"), layers.Dense(1)]
    )
    found = convert(model, to=to)
    assert type(found.layers[1]) is to
    assert report(found).error == pytest.approx(
        np.abs(found.layers[1].function(X) - np.tanh(X)).max(), abs=1e-6
    )


X = np.linspace(-8, 8, 3201)


def test_to_what_a_function_returns():
    found = convert(sequential(), to=lambda layer: KAF(D=4, name=f"{layer.name}_kaf"))
    names = [layer.name for layer in found.layers if isinstance(layer, KAF)]
    assert names == ["fused_kaf", "leaky_kaf", "capped_kaf"]


def test_channels_are_where_the_model_has_them():
    inputs = keras.Input((3, 4, 5))
    x = layers.ReLU()(layers.UpSampling2D(data_format="channels_first")(inputs))
    model = keras.Model(inputs, layers.Dense(2)(layers.Flatten()(x)))
    assert convert(model, sharing="channel").layers[2].beta.shape == (3, 3)


class Unsaved(layers.Layer):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def call(self, x):
        return self.function(x)


def with_layer(layer):
    return keras.Sequential([keras.Input((4,)), layer, layers.ReLU(), layers.Dense(1)])


def unsaved():
    """A model with a layer that has weights and no configuration."""
    layer = Unsaved(ops.sin)
    layer.add_weight(shape=(2,))
    return with_layer(layer)


@pytest.mark.parametrize("layer", [Unsaved(ops.sin), layers.Lambda(lambda x: x + 1)])
def test_a_layer_that_needs_no_copy_is_used_itself(layer):
    model = with_layer(layer)
    found = convert(model)
    # Keras 3.12 copies any Lambda. Later versions refuse to.
    assert found.layers[0] is layer or isinstance(layer, layers.Lambda)
    assert_equal_outputs(model, found)
    assert len(report(convert(unsaved(), inplace=True)).replaced) == 1


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (lambda: "model.keras", {}, "load_model.*Received: 'model.keras'"),
        (lambda: None, {}, "Expected one Sequential.*Received: None"),
        (sequential, {"to": KAF, "k": 5}, "`k` and `g` are arguments.*'k': 5"),
        (unsaved, {}, "'unsaved.*cannot be copied.*`inplace=True`"),
        (sequential, {"k": 1}, "'leaky'.*k >= 2.*k=1"),
        (sequential, {"g": "softmax"}, "each element alone.*softmax"),
        (sequential, {"layers": "conv*"}, "does not match any layer.*fused.*'conv"),
        (sequential, {"layers": "class"}, "Nothing to replace.*several elements"),
        (sequential, {"to": Maxout}, "`to` must be.*Maxout"),
        (sequential, {"data": np.ones((0, 6))}, r"at least one row.*\(0, 6\)"),
        (sequential, {"to": lambda layer: "relu"}, "must return a layer.*'relu'"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_bad_input_is_told(make, arguments, message):
    model = make()
    with pytest.raises(ValueError, match=f"(?s){message}"):
        convert(model, **arguments)


@pytest.mark.parametrize("arguments", [{"layers": "no*"}, {"k": 1}])
def test_wrong_arguments_leave_a_model_as_it_is_in_place(arguments):
    model = sequential()
    x = inputs_of(model)
    (expected,) = outputs_of(model, x)
    with pytest.raises(ValueError):
        convert(model, inplace=True, **arguments)
    np.testing.assert_array_equal(outputs_of(model, x)[0], expected)


def test_the_report_of_a_large_model_is_printed_in_ten_lines():
    parts = [keras.layers.Activation(f) for f in 20 * ["relu"] + ["tanh", "silu"]]
    model = keras.Sequential([keras.Input((3,)), *parts, keras.layers.Dense(1)])
    found = report(convert(model))
    lines = str(found).splitlines()
    assert lines[0] == "20 x relu -> VAFActivation"
    assert "22 replaced, 0 kept" in lines[-2] and len(lines) == 5
    assert len(found.details.splitlines()) == 23
    kept = [Change("a", "relu", kept=f"reason {n}") for n in range(12)]
    lines = str(ConversionReport(kept=(*kept, kept[5]))).splitlines()
    assert len(lines) == 10 and lines[0] == "2 x relu kept, reason 5"


@keras.saving.register_keras_serializable("tests")
class Tripled:
    """A function that is an object."""

    def __call__(self, x):
        return 3 * x

    def get_config(self):
        return {}


@pytest.mark.parametrize(
    "activation, is_known",
    [
        (functools.partial(keras.activations.relu, negative_slope=0.1), False),
        (functools.partial(keras.activations.relu, max_value=6), True),
        (Tripled(), False),
        (ops.silu, True),
        (ops.custom_gradient(lambda x: (ops.sin(x), lambda y, u=None: u)), True),
    ],
    ids=["partial", "relu6", "object", "silu", "custom_gradient"],
)
def test_functions_without_a_name(activation, is_known):
    own = [layers.Dense(3, activation, name="a"), layers.Activation(activation)]
    stack = [keras.Input((2,)), *own, layers.Dense(2, "relu"), layers.Dense(1)]
    model = keras.Sequential(stack)
    (expected,) = outputs_of(model, inputs_of(model))
    found = convert(model, inplace=True)
    y = outputs_of(found, inputs_of(model))[0]
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    assert is_known or "no g is known" in reasons(found)["a"]
    assert len(replaced_layers(found)) == 1 + 2 * is_known
