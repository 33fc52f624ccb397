"""Penalties on functions: their values, and the layers that refuse them."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keras_vaf import layers
from keras_vaf.layers import VAFActivation
from keras_vaf.regularizers import Damping, FunctionRegularizer, SlopeVariation
from tests.harness import check_serialization

WEIGHTS = arrays(np.float32, (3, 4), elements=st.floats(-2, 2, width=32))


def layer_of(weights, factor=1.0, **arguments):
    """A VAF with given alpha, alpha_bias and beta, and this penalty."""
    layer = VAFActivation(
        k=weights.shape[1], function_regularizer=SlopeVariation(factor), **arguments
    )
    layer.set_weights([*weights, np.float32(0)])
    return layer


def penalty(layer):
    (loss,) = layer.losses
    return float(keras.ops.convert_to_numpy(loss))


def variation_of_slope(layer):
    """Total variation of the slope, from the values of f at its knots."""
    alpha, alpha_bias, _, _ = layer.get_weights()
    bends = alpha != 0
    knots = np.unique(-alpha_bias[bends].astype("float64") / alpha[bends])
    places = np.concatenate([[knots[0] - 1], knots, [knots[-1] + 1]])
    slopes = np.diff(layer.function(places)) / np.diff(places)
    return np.abs(np.diff(slopes)).sum()


@settings(max_examples=30, deadline=None)
@given(weights=WEIGHTS)
def test_bounds_the_variation_of_the_slope(weights):
    alpha, alpha_bias, beta = np.sign(weights) * np.maximum(np.abs(weights), 0.05)
    weights = np.stack([np.where(alpha == 0, 1, alpha), alpha_bias, beta])
    # Knots far enough apart for slopes to be read off.
    weights[1] = -weights[0] * (np.arange(4) + 0.5 * np.tanh(weights[1]))
    layer = layer_of(weights.astype("float32"))
    assert penalty(layer) == pytest.approx(
        variation_of_slope(layer), rel=1e-4, abs=1e-4
    )


def test_adds_up_all_functions_of_a_layer_and_the_factor():
    layer = VAFActivation(
        k=2, sharing="channel", function_regularizer=SlopeVariation(0.1)
    )
    layer.build((None, 3))
    one, two = np.ones((3, 2), "float32"), np.full((3, 2), -2, "float32")
    layer.set_weights([one, one, two, np.zeros(3, "float32")])
    assert penalty(layer) == pytest.approx(0.1 * 6 * 2)


def test_is_saved_with_the_layer(tmp_path):
    check_serialization(SlopeVariation(0.02))
    penalized = {"function_regularizer": SlopeVariation(0.02)}
    layer = VAFActivation(initialization="random", **penalized)
    model = keras.Sequential([keras.Input((2,)), layer])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].function_regularizer.factor == 0.02
    assert penalty(loaded.layers[0]) == pytest.approx(penalty(model.layers[0]))


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    "penalty, layer", [(SlopeVariation(), layers.PELU), (Damping(), VAFActivation)]
)
def test_another_layer_refuses_it(penalty, layer):
    with pytest.raises(ValueError, match=r"is a penalty on .* of a \w+\. Received: <"):
        layer(function_regularizer=penalty)
    with pytest.raises(ValueError, match="is a penalty on"):
        penalty(layer())


@pytest.mark.backend("tensorflow")
def test_subclasses_of_a_layer_and_other_callables_are_taken():
    class Narrow(VAFActivation):
        pass

    assert Narrow(function_regularizer=SlopeVariation()).losses
    assert layers.PELU(function_regularizer=lambda layer: layer.alpha).losses


@pytest.mark.backend("tensorflow")
def test_a_penalty_of_ones_own():
    class Height(FunctionRegularizer):
        layers = ("PELU", "AdaptiveTanh")

        def penalty(self, layer):
            return keras.ops.abs(layer.alpha)

    layer = layers.PELU(function_regularizer=Height(0.5))
    assert float(layer.losses[0]) == 0.5
    with pytest.raises(ValueError, match="of a PELU or AdaptiveTanh"):
        layers.SReLU(function_regularizer=Height(0.5))


@pytest.mark.parametrize("points", [None, "random_uniform", keras.initializers.Ones()])
def test_damping_is_nothing_before_training(points):
    layer = layers.SplineActivation(
        q=5, points_initializer=points, function_regularizer=Damping(0.1)
    )
    layer.build((None, 2))
    assert keras.ops.convert_to_numpy(layer.losses[0]) == 0


@pytest.mark.backend("tensorflow")
def test_damping_is_the_squared_distance_of_the_points_from_their_start():
    layer = layers.SplineActivation(q=5, sharing="channel")
    layer.build((None, 2))
    (start,) = layer.get_weights()
    layer.set_weights([start + np.array([[0.5], [2.0]], "float32")])
    expected = start.shape[1] * (0.5**2 + 2.0**2)
    assert float(Damping(0.1)(layer)) == pytest.approx(0.1 * expected, rel=1e-5)
