"""Files of released versions load and predict what they did, or are refused.

A file that holds a removed class is refused with the version that loads it.
"""

import json

import keras
import numpy as np
import pytest

from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.removed import REMOVED
from tests.saving.make_golden import FOLDER, sample

FILES = sorted(FOLDER.glob("*/*.keras"))


def test_there_are_files():
    assert {path.parent.name for path in FILES} >= {"0.1.0", "0.2.0", "0.3.0", "0.4.0"}


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_file_of_each_version_loads(path):
    known = json.loads((path.parent / "predictions.json").read_text())[path.stem]
    model = keras.saving.load_model(path)
    x = sample(tuple(known["shape"]))
    prediction = keras.ops.convert_to_numpy(model(x))
    np.testing.assert_allclose(prediction, known["prediction"], rtol=1e-5, atol=1e-6)


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
