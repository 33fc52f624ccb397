"""Incomplete and foreign files raise an error, and none of their code runs."""

import json
import zipfile

import keras
import pytest

from keras_vaf import layers
from keras_vaf.layers import VAFActivation


@pytest.fixture
def file(tmp_path):
    """A small saved model."""
    path = tmp_path / "model.keras"
    keras.Sequential([keras.Input((3,)), VAFActivation()]).save(path)
    return path


def rewrite(path, argument, value):
    """Put another value into the configuration that a file holds."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    config["config"]["layers"][1]["config"][argument] = value
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def lambda_that_writes(path):
    """Configuration of a lambda that writes a file when it is loaded and called."""
    written = path.with_name("written")
    with pytest.warns(UserWarning, match="lambda"):
        code = keras.saving.serialize_keras_object(
            lambda x, path=str(written): open(path, "w").close() or x
        )
    assert code["class_name"] == "__lambda__"
    return code


SYSTEM = {
    "module": "os",
    "class_name": "function",
    "config": "system",
    "registered_name": "system",
}


@pytest.mark.parametrize("argument", ["g", "initialization", "function_regularizer"])
def test_a_foreign_function_is_refused_and_not_run(file, argument):
    names = (SYSTEM, "os>system", "builtins>eval", "lambda x: x")
    for value in (*names, lambda_that_writes(file)):
        rewrite(file, argument, value)
        with pytest.raises((TypeError, ValueError)):
            keras.saving.load_model(file)
    assert not file.with_name("written").exists()


@pytest.mark.parametrize(
    "name, argument",
    [
        *(("VAFActivation", "k"), ("KAF", "D"), ("APL", "S")),
        *(("SplineActivation", "q"), ("PolynomialActivation", "degree")),
        *(("Rational", "numerator_degree"), ("Rational", "denominator_degree")),
    ],
)
def test_a_file_that_asks_for_all_memory_is_refused(name, argument):
    kind = getattr(layers, name)
    config = kind(sharing="layer").get_config() | {argument: 10**9}
    with pytest.raises(TypeError, match=f"`{argument}` must be .* at most 10,000"):
        kind.from_config(config)
