"""Each weight takes an initializer in every form that Keras's own layers accept."""

import json

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.layers import VAFActivation as VAF


@keras.saving.register_keras_serializable(package="tests")
class Countdown(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None):
        return ops.cast(-ops.reshape(ops.arange(np.prod(shape)), shape), dtype)


@keras.saving.register_keras_serializable(package="tests")
def all_threes(shape, dtype=None):
    return ops.full(shape, 3.0, dtype=dtype)


FORMS = {
    "string": "ones",
    "class": keras.initializers.Ones,
    "object": keras.initializers.RandomNormal(seed=1),
    "dictionary": {"class_name": "Constant", "config": {"value": 0.25}},
    "own object": Countdown(),
    "own name": "tests>Countdown",
    "own function": all_threes,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind, weight", [(keras.layers.PReLU, "alpha"), (VAF, "beta")])
def test_forms_that_prelu_accepts(kind, weight, form, tmp_path):
    layer = kind(**{f"{weight}_initializer": FORMS[form]})
    model = keras.Sequential([keras.Input((4,)), layer])
    model.save(tmp_path / "model.keras")
    copies = (
        model,
        keras.saving.load_model(tmp_path / "model.keras"),
        keras.models.clone_model(model),
        keras.models.model_from_json(model.to_json()),
        keras.Sequential.from_config(json.loads(json.dumps(model.get_config()))),
    )
    drawn = getattr(layer, weight)
    expected = keras.initializers.get(FORMS[form])(drawn.shape, dtype="float32")
    for copy in copies:
        value = ops.convert_to_numpy(getattr(copy.layers[0], weight))
        np.testing.assert_array_equal(value, ops.convert_to_numpy(expected))


@pytest.mark.parametrize("name", ["RandomStart", "GStart", "FunctionStart"])
def test_starts_by_registered_name(name):
    name = f"keras_vaf>{name}"
    layer = VAF(initialization=name)
    assert layer.get_config()["initialization"] == name
    again = VAF.from_config(layer.get_config())
    assert type(again._start) is type(keras.initializers.get(name))
