"""Each form of a formula, evaluated, is the learned function."""

import itertools
import re

import keras
import numpy as np
import pytest

from keras_vaf import layers, models
from keras_vaf.layers import VAFActivation
from keras_vaf.models import formula
from keras_vaf.ops import NAMES
from tests import reference
from tests.formula_text import value_of_pieces, values_of_text

pytestmark = pytest.mark.backend("tensorflow")

X = np.linspace(-6, 6, 61) + 0.01


def random_vaf(k, g, sharing="layer", shape=(None, None)):
    """Return a VAF with random weights, stored in float64."""
    layer = VAFActivation(k=k, g=g, sharing=sharing, dtype="float64")
    layer.build(shape)
    random = np.random.default_rng(k)
    layer.set_weights([random.normal(size=w.shape) for w in layer.weights])
    return layer


def values_of_latex(text, x):
    text = re.sub(r"^f(_\{[\d,]+\})?\(a\) &?= ", "", text)
    if "cases" not in text:
        return value_of_pieces([(text, "a == a")], x)
    rows = re.sub(r"\\(begin|end)\{cases\}", "", text).split(r"\\")
    rows = [row.replace(r"\le", "<=").split("&") for row in rows]
    return value_of_pieces([[part.strip() for part in row] for row in rows], x)


def check(values, expected):
    np.testing.assert_allclose(values, expected, 1e-12, 1e-12 * np.abs(expected).max())


def expected(layer, x):
    """Return f(x) in float64; Keras holds constants of some g in float32."""
    y = reference.vaf(x, *layer.get_weights(), layer.g.__name__)
    np.testing.assert_allclose(layer.function(x), y, 1e-6, 1e-6)
    return y


def vafs():
    """Return a VAF with each g, of 1 to 15 hidden units."""
    return [random_vaf(k, g) for g, k in zip(NAMES, itertools.cycle((1, 2, 3, 7, 15)))]


READERS = {"text": values_of_text, "latex": values_of_latex}


@pytest.mark.parametrize("form", READERS)
def test_each_g_is_written_exactly(form):
    for layer in vafs():
        text = formula(layer, form, 17)
        check(READERS[form](text, X), expected(layer, X))


@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_several_functions(g):
    for sharing, size in (("channel", (3,)), ("neuron", (2, 3))):
        layer = random_vaf(2, g, sharing, (None, 2, 3))
        curves = layer.function(X)
        rows = formula(layer, digits=17).splitlines()[2:]
        latex = formula(layer, "latex", 17).splitlines()[1:-1]
        assert len(rows) == len(latex) == np.prod(size)
        for i, place in enumerate(np.ndindex(size)):
            y = curves[(slice(None), *place)]
            _, index, text, _ = rows[i].split("|")
            assert index.strip() == ", ".join(map(str, place))
            check(values_of_text(text.strip(), X), y)
            check(values_of_latex(latex[i].removesuffix(r" \\"), X), y)


def test_the_family_and_layers_of_keras():
    prelu = keras.layers.PReLU(alpha_initializer=keras.initializers.Constant(0.25))
    prelu.build((None, 1))
    for layer, expected in (
        (keras.layers.LeakyReLU(0.25), "0.25 a for a <= 0; a for a > 0"),
        (keras.layers.ReLU(max_value=6), "0 for a <= 0; a for a <= 6; 6 for a > 6"),
        (layers.PELU(), "elu(a)"),
        (keras.layers.Activation("gelu"), "gelu(a)"),
    ):
        assert formula(layer, digits=17) == f"f(a) = {expected}"
    row = "| 0 | 0.25 a for a <= 0; a for a > 0 |"
    assert formula(prelu, digits=17).splitlines()[2] == row
    kaf = layers.KAF(D=4, seed=0, sharing="layer", dtype="float64")
    check(values_of_text(formula(kaf, digits=17), X), kaf.function(X))
    with pytest.raises(ValueError, match="Snake cannot be written as a VAF"):
        formula(layers.Snake())
    model = keras.Sequential([keras.Input((2,)), layers.Snake(name="s"), kaf])
    first, second = formula(model).split("\n\n")
    assert first.startswith("s:\nno formula: ") and "Snake cannot be" in first
    assert second.endswith(formula(kaf))


@pytest.mark.parametrize(
    "units, expected",
    [
        # Units 1 and 3 cancel, and unit 5 is the constant 12.
        (
            [[1, -1, 1, 1, 0], [-2, -1, -2, 0, 3], [1, 1, -1, 2, 4], 0.5],
            "-a + 11.5 for a <= -1; 12.5 for a <= 0; 2 a + 12.5 for a > 0",
        ),
        ([[1, -1], [0, 0], [0.5, -0.5], 0], "0.5 a"),  # two halves of one line
    ],
)
def test_lines_are_merged_and_sorted(units, expected):
    layer = VAFActivation(k=len(units[0]))
    layer.set_weights([np.array(weight, "float32") for weight in units])
    assert formula(layer, digits=17) == f"f(a) = {expected}"


@pytest.mark.parametrize("g", ["relu", "sin"])
def test_printed_digits_state_their_error(g):
    layer = random_vaf(5, g)
    first, error, nearest = formula(layer, digits=3).splitlines()
    said = re.search(r"3 digits: largest difference (\S+) on \[-10, 10\]", error)
    x = np.linspace(-10, 10, 1001)
    found = np.max(np.abs(values_of_text(first, x) - layer.function(x)))
    assert float(said[1]) == pytest.approx(found, rel=0.05)
    assert nearest.startswith("nearest: ") and nearest.endswith("on [-10, 10]")
    assert formula(layer, "latex", 3).splitlines()[-1] == f"% {error}"


def test_the_stated_difference_includes_a_spike_between_the_points():
    layer = VAFActivation(k=3, dtype="float64")
    knots = np.array([1, 1.001, 1.002])
    layer.set_weights([np.ones(3), -knots, 1e5 * np.array([1, -2, 1]), np.zeros(())])
    stated = re.search(r"largest difference (\S+)", formula(layer, digits=3))[1]
    assert float(stated) == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", range(4))
def test_weights_that_are_not_finite_are_refused(value, place):
    good, bad = VAFActivation(name="good"), VAFActivation(name="bad")
    weights = bad.get_weights()
    weights[place] = np.full_like(weights[place], value)
    bad.set_weights(weights)
    for function in (formula, models.nearest):
        with pytest.raises(ValueError, match="must be finite"):
            function(bad)
    both = keras.Sequential([keras.Input((2,)), good, bad])
    good_block, bad_block = formula(both).split("bad:")
    assert "f(a)" in good_block and "no formula: Every weight" in bad_block


def test_a_name_is_given_within_its_error_on_the_data():
    layer = VAFActivation(initialization="leaky_relu", name="vaf")
    layer.beta_bias.assign(0.001)
    x = np.random.default_rng(0).normal(size=(50, 2)).astype("float32")
    text = formula(layer, data=x)
    assert re.search(r"nearest: LeakyReLU\(0.2\), .* on the data$", text)
    model = keras.Sequential([keras.Input((2,)), layer])
    assert formula(model, data=x) == f"vaf:\n{text}"
    assert models.nearest(layer, x) == models.nearest(layer, x.ravel())
    with pytest.raises(ValueError, match=r"`x` must be finite inputs.*0 numbers"):
        models.nearest(layer, [])


@pytest.mark.parametrize("form, mark", [("text", ""), ("latex", "% ")])
def test_a_model_gives_a_block_for_each_layer(form, mark):
    steep, smooth = VAFActivation(name="steep"), VAFActivation(g="tanh", name="smooth")
    inner = keras.Sequential([keras.Input((2,)), smooth], name="inner")
    model = keras.Sequential([keras.Input((2,)), steep, inner])
    blocks = [
        f"{mark}{path}:\n{formula(layer, form, 17)}"
        for path, layer in (("steep", steep), ("inner/smooth", smooth))
    ]
    assert formula(model, form, 17) == "\n\n".join(blocks)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"form": "Latex"}, "Did you mean 'latex'.*Received: form='Latex'"),
        ({"digits": 18}, "`digits` must be an integer of at least 1 and at most 17"),
        ({"data": [np.inf]}, "`data` must be finite"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        formula(VAFActivation(), **arguments)
    with pytest.raises(ValueError, match="cannot be written"):
        formula(keras.layers.Dense(1))
