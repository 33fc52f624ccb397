"""A file that holds a removed class is refused with the version that loads it."""

import keras
import pytest

from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.removed import REMOVED


def configuration(name, package="keras_vaf"):
    """Return what version 0.3.0 writes into a file for an object of a class."""
    return {
        "module": f"keras_vaf.{name.lower()}",
        "class_name": name,
        "config": {"name": "activation"},
        "registered_name": f"{package}>{name}",
    }


NAMES = [(package, name) for package, names in REMOVED.items() for name in names]


@pytest.mark.parametrize("package, name", NAMES)
def test_loading_a_removed_class_names_the_version_that_has_it(package, name):
    message = rf"^{name} was removed; install keras-vaf 0\.3\.0 to load this file\.$"
    with pytest.raises(ValueError, match=message):
        keras.saving.deserialize_keras_object(configuration(name, package))


def test_a_model_with_a_removed_function_is_refused():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, "relu")])
    config = model.get_config()
    config["layers"][1]["config"]["activation"] = {
        "module": "builtins",
        "class_name": "function",
        "config": "keras_vaf.experiments>finer",
        "registered_name": "function",
    }
    with pytest.raises(ValueError, match="finer was removed"):
        keras.Sequential.from_config(config)(keras.ops.ones((1, 3)))


@pytest.mark.parametrize("layer", [VAFActivation(name="f"), KAF(name="f")])
def test_a_constraint_on_the_function_is_refused_unless_it_is_null(layer):
    model = keras.Sequential([keras.Input((3,)), layer])
    config = model.get_config()
    arguments = config["layers"][1]["config"]
    arguments["function_constraint"] = None
    again = keras.Sequential.from_config(config).layers[0]
    assert again.get_config() == layer.get_config()
    arguments["function_constraint"] = configuration("SlopeBound")
    message = r"^`function_constraint` was removed; install keras-vaf 0\.3\.0 to load"
    with pytest.raises(ValueError, match=message):
        keras.Sequential.from_config(config)


def test_a_dictionary_as_sharing_is_refused():
    layer = VAFActivation(name="f").get_config()
    layer["sharing"] = {"alpha": "layer", "beta": [1, 2]}
    message = r"^A dictionary as `sharing` was removed; install keras-vaf 0\.3\.0 to"
    with pytest.raises(ValueError, match=message):
        VAFActivation.from_config(layer)
