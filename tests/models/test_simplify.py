"""Fewer hidden units, known functions, and how near they are."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, freeze, nearest, report, simplify
from keras_vaf.ops.activations import KERAS_NAMES
from keras_vaf.ops.functions import evaluate, get_function
from tests.models.networks import (
    assert_equal_outputs,
    functional,
    inputs_of,
    outputs_of,
    scatter,
)

X = np.linspace(-10, 10, 1001)
NORMAL = np.random.default_rng(0).normal(size=1000)


def vaf(alpha, alpha_bias, beta, beta_bias=0.0, **arguments):
    layer = VAFActivation(k=len(alpha), name="vaf", **arguments)
    layer.build((None, 2))
    values = zip(layer.weights, (alpha, alpha_bias, beta, beta_bias), strict=True)
    layer.set_weights([np.broadcast_to(value, w.shape) for w, value in values])
    return layer


def around(layer):
    return keras.Sequential([keras.Input((2,)), layer])


class TestSimplify:
    @pytest.mark.parametrize("sharing", ["layer", "channel"])
    def test_small_contributions_go_and_the_error_is_told(self, sharing):
        layer = vaf((1, 1, -1), (0, -1, 0), (1, 0.03, -0.002), sharing=sharing)
        found = simplify(around(layer), 0.05)
        (change,) = report(found).replaced
        assert found.layers[0].k == 1
        error = np.abs(found.layers[0].function(X) - layer.function(X)).max()
        assert change.error == pytest.approx(error, rel=1e-3) and 0 < error <= 0.05
        assert change.nearest.startswith(("LeakyReLU", "1.0", "relu"))
        assert report(simplify(around(layer), 1e-4)).replaced == ()

    def test_data_say_where_it_matters(self):
        layer = vaf((1, 1), (0, -3), (1, 1))
        x = np.random.default_rng(0).uniform(-2, 2, (200, 2)).astype("float32")
        found = simplify(around(layer), 1e-3, data=x)
        assert found.layers[0].k == 1
        y = outputs_of(around(layer), x)[0]
        np.testing.assert_allclose(outputs_of(found, x)[0], y, atol=1e-5)
        assert report(simplify(around(layer), 1e-3)).replaced == ()

    def test_a_model_is_simplified_everywhere(self, tmp_path):
        model = scatter(convert(functional(), k=6))
        found = simplify(model, 1e-4)
        assert len(report(found).replaced) + len(report(found).kept) == 4
        x = inputs_of(model)
        for a, b in zip(outputs_of(model, x), outputs_of(found, x), strict=True):
            assert np.abs(a - b).max() < 0.1
        found.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert_equal_outputs(found, loaded)


class TestNearest:
    def test_the_text_has_the_slope_the_factor_and_the_constant(self):
        bent = vaf((1, -1), (0, 0), (0.98, -0.098))
        assert str(nearest(bent)).startswith("0.98 x LeakyReLU(0.1), largest error ")
        moved = vaf((1,), (0,), (2,), 0.5)
        assert str(nearest(moved)).startswith("2.00 x relu + 0.50, largest error ")

    @pytest.mark.parametrize("x", [None, NORMAL], ids=["interval", "normal"])
    @pytest.mark.parametrize("name", KERAS_NAMES)
    def test_every_known_function_keeps_its_name(self, name, x):
        layer = vaf((1.0,), (0.0,), (1.25,), -0.5, g=name)
        known = nearest(layer, x)
        points = np.linspace(-10, 10, 1001) if x is None else x
        true = 1.25 * evaluate(get_function(name, "name"), points) - 0.5
        small = 1e-5 * np.ptp(true) + 1e-6
        assert known.error <= small and "no known function" not in str(known)
        # sparse_sigmoid is a scaled hard_tanh, and elu is celu
        assert known.name in (name, "LeakyReLU", "hard_tanh", "celu", "linear", "relu")
        if known.name == "LeakyReLU":
            values = np.where(points > 0, points, known.slope * points)
        else:
            values = evaluate(get_function(known.name, "name"), points)
        np.testing.assert_allclose(
            known.scale * values + known.offset, true, rtol=1e-4, atol=2 * small
        )

    def test_data_say_where_a_curve_is_gelu(self):
        # gelu on [-3, 3], and a constant on the right of it, where no inputs are.
        knots = np.linspace(-3.5, 3.5, 29)
        slopes = np.diff(evaluate(keras.activations.gelu, knots)) / np.diff(knots)
        beta = 1.25 * np.diff([0, *slopes, 0])
        layer = vaf(np.ones(29), -knots, beta)
        x = np.random.default_rng(0).normal(size=(500, 2)).astype("float32")
        models = [simplify(around(layer), 0.01, data) for data in (x, None)]
        (change,), (other,) = (report(model).replaced for model in models)
        assert change.nearest.startswith("1.25 x gelu, largest error 0.00")
        assert other.nearest == "no known function"
        errors = models[0].layers[0].function(x) - layer.function(x)
        assert change.rms == pytest.approx(np.sqrt(np.mean(errors**2)), rel=0.1)
        assert change.error is None


@pytest.mark.parametrize("tolerance", [0.5, 0.1, 0.01])
def test_random_functions_keep_their_error(tolerance):
    layer = VAFActivation(k=6, initialization=RandomStart(seed=3), name="random")
    found = simplify(around(layer), tolerance)
    change = (*report(found).replaced, *report(found).kept)[0]
    difference = found.layers[0].function(X) - layer.function(X)
    assert np.abs(difference).max() <= tolerance + 1e-6
    assert (change.error or 0) == pytest.approx(np.abs(difference).max(), abs=1e-5)


@pytest.mark.parametrize("change", [freeze, lambda model: simplify(model, 0.1)])
@pytest.mark.parametrize("place, value", [("dense", np.nan), ("vaf", np.inf)])
def test_a_weight_that_is_not_finite_is_named(change, place, value):
    dense = keras.layers.Dense(2, name="dense")
    layer = vaf((1,), (0,), (1,))
    model = keras.Sequential([keras.Input((4,)), dense, layer])
    weight = model.get_layer(place).weights[0]
    weight.assign(np.full(weight.shape, value))
    with pytest.raises(ValueError, match=f"NaN or infinite values in .*{place}"):
        change(model)


def test_units_that_are_not_finite_are_named():
    layer = vaf((1e4, 1), (0, 0), (1, 1), g="exponential")
    (kept,) = report(simplify(around(layer), 0.1)).kept
    assert "not finite" in kept.kept
