"""Registered names stand in users' files: once released they never change."""

import keras
import pytest

import keras_vaf  # noqa: F401

NAMES = (
    "keras_vaf>ActivationsApart",
    "keras_vaf>CurveStart",
    "keras_vaf>FunctionStart",
    "keras_vaf>Lipschitz",
    "keras_vaf>Monotone",
    "keras_vaf>PiecewiseLinearStart",
    "keras_vaf>PortableGlorotUniform",
    "keras_vaf>RandomStart",
    "keras_vaf>Rprop",
    "keras_vaf>SlopeVariation",
    "keras_vaf>VAFActivation",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_registered(name):
    registered = keras.saving.get_registered_object(name)
    assert keras.saving.get_registered_name(registered) == name
