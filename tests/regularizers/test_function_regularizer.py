"""A penalty on a function is refused by layers that it is not for."""

import keras
import numpy as np
import pytest

from keras_vaf import layers
from keras_vaf.regularizers import Damping, FunctionRegularizer, SlopeVariation

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize(
    "penalty, layer",
    [
        (SlopeVariation(), layers.PELU),
        (Damping(), layers.VAFActivation),
    ],
)
def test_another_layer_refuses_it(penalty, layer):
    with pytest.raises(ValueError, match=r"is a penalty on .* of a \w+\. Received: <"):
        layer(function_regularizer=penalty)
    with pytest.raises(ValueError, match="is a penalty on"):
        penalty(layer())


def test_subclasses_of_a_layer_and_other_callables_are_taken():
    class Narrow(layers.VAFActivation):
        pass

    assert Narrow(function_regularizer=SlopeVariation()).losses
    assert layers.PELU(function_regularizer=lambda layer: layer.alpha).losses


def test_a_penalty_of_ones_own():
    class Height(FunctionRegularizer):
        layers = ("PELU", "AdaptiveTanh")

        def penalty(self, layer):
            return keras.ops.abs(layer.alpha)

    layer = layers.PELU(function_regularizer=Height(0.5))
    assert float(layer.losses[0]) == 0.5
    with pytest.raises(ValueError, match="of a PELU or AdaptiveTanh"):
        layers.SReLU(function_regularizer=Height(0.5))


def test_damping_is_the_squared_distance_of_the_points_from_their_start():
    layer = layers.SplineActivation(q=5, sharing="channel")
    layer.build((None, 2))
    (start,) = layer.get_weights()
    layer.set_weights([start + np.array([[0.5], [2.0]], "float32")])
    expected = start.shape[1] * (0.5**2 + 2.0**2)
    assert float(Damping(0.1)(layer)) == pytest.approx(0.1 * expected, rel=1e-5)
