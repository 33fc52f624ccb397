"""A file that holds a removed class is refused with the version that loads it."""

import keras
import pytest

import keras_vaf  # noqa: F401 (registers the names)
from keras_vaf.removed import REMOVED


def configuration(name):
    """Return what version 0.3.0 writes into a file for an object of a class."""
    return {
        "module": f"keras_vaf.{name.lower()}",
        "class_name": name,
        "config": {"name": "activation"},
        "registered_name": f"keras_vaf>{name}",
    }


@pytest.mark.parametrize("name", REMOVED)
def test_loading_a_removed_class_names_the_version_that_has_it(name):
    message = rf"^{name} was removed; install keras-vaf 0\.3\.0 to load this file\.$"
    with pytest.raises(ValueError, match=message):
        keras.saving.deserialize_keras_object(configuration(name))


def test_a_model_with_a_removed_layer_is_refused():
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.ReLU(name="f")]
    ).get_config()
    model["layers"][1] = configuration("PolyReLU")
    with pytest.raises(ValueError, match="PolyReLU was removed"):
        keras.Sequential.from_config(model)
