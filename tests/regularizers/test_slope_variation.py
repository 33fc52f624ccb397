"""The penalty on the bends of a function."""

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keras_vaf.layers import VAFActivation
from keras_vaf.regularizers import SlopeVariation
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
    model = keras.Sequential(
        [
            keras.Input((2,)),
            VAFActivation(
                function_regularizer=SlopeVariation(0.02), initialization="random"
            ),
        ]
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].function_regularizer.factor == 0.02
    assert penalty(loaded.layers[0]) == pytest.approx(penalty(model.layers[0]))
