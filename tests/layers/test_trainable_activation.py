"""The weights and function that the base class makes from an equation."""

import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import TrainableActivation
from keras_vaf.ops import Pointwise


@keras.saving.register_keras_serializable(package="tests")
class BumpActivation(TrainableActivation):
    """x + height exp(-width x^2), with a width of 1 if it is not a parameter."""

    equation_fields = ("shift",)
    start_values = (0.5,)
    shift = 0.0

    def value(self, x, height, width=None):
        bump = ops.exp(-(1 if width is None else width) * x * x)
        return x + height * bump + self.shift


def test_a_function_and_its_start_are_an_activation():
    layer = BumpActivation()
    assert [weight.name for weight in layer.weights] == ["height"]
    assert layer.function(0.0) == 0.5
    assert layer.equation == BumpActivation().equation
    assert hash(layer.equation) == hash(BumpActivation().equation)
    layer = BumpActivation(sharing="channel", height_regularizer="l2")
    y = layer(np.zeros((2, 5), "float32"))
    np.testing.assert_array_equal(ops.convert_to_numpy(y), np.full((2, 5), 0.5))
    assert BumpActivation.from_config(layer.get_config()).height_regularizer.l2 == 0.01


def test_an_optional_parameter_exists_if_the_layer_declares_it():
    class Wide(BumpActivation):
        start_values = (0.5, 0.0)

        def __init__(self, **kwargs):
            self.weight_names = (*self.weight_names, "width")
            super().__init__(**kwargs)

    layer = Wide(width_constraint="non_neg")
    assert [weight.name for weight in layer.weights] == ["height", "width"]
    assert layer.function(3.0) == 3.5
    with pytest.raises(ValueError, match="width_constraint"):
        BumpActivation(width_constraint="non_neg")


class NotADataclass(Pointwise):
    def value(self, x, alpha):
        return alpha * x


@dataclasses.dataclass(frozen=True)
class Nameless(Pointwise):
    def value(self, x, *parameters):
        return x


@pytest.mark.parametrize(
    "equation, message",
    [
        (NotADataclass, r"dataclass\(frozen=True\).*Received"),
        (np.tanh, r"dataclass\(frozen=True\).*Received"),
        (Nameless, r"must name each parameter.*\.value\(self, x"),
    ],
)
def test_an_equation_is_a_frozen_dataclass_with_named_parameters(equation, message):
    with pytest.raises(ValueError, match=message):
        type("Activation", (TrainableActivation,), {"equation_class": equation})
