"""Models are read and changed from file to file, and the given file stays."""

import errno

import keras
import pytest

from keras_vaf.models import convert
from keras_vaf.models.files import change_file, load_model
from tests.models.networks import sequential

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.keras"
    model = sequential()
    model.compile("adam", "mse")  # Keras warns of an optimizer that has no state yet
    model.save(path)
    return path


def test_an_error_of_the_machine_is_not_blamed_on_the_file(saved, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device", "/tmp/weights.h5")

    def load(path, compile):
        raise full

    monkeypatch.setattr(keras.saving, "load_model", load)
    with pytest.raises(OSError, match="No space left") as caught:
        load_model(saved)
    assert caught.value is full


def own_loss(y, prediction):
    return keras.ops.mean(keras.ops.square(y - prediction))


@pytest.mark.parametrize(
    "name, arguments, reason",
    [
        ("model.keras", {"loss": own_loss}, "Could not locate function 'own_loss'"),
        ("old.h5", {"loss": "mse", "metrics": ["mse"]}, "mse"),
    ],
)
@pytest.mark.filterwarnings("ignore:__array__ implementation")
def test_what_was_compiled_is_not_needed_to_change_a_model(
    name, arguments, reason, tmp_path
):
    model = sequential()
    model.compile("adam", **arguments)
    model.save(tmp_path / name)
    with pytest.warns(UserWarning, match=f"not compiled.*{reason}"):
        changed = change_file(tmp_path / name, tmp_path / "new.keras", convert)
    assert not changed.compiled
    written = keras.saving.load_model(tmp_path / "new.keras")
    assert written.count_params() == changed.count_params()
    assert load_model(tmp_path / name, compile=False)


class Own(keras.layers.Layer):
    def call(self, inputs):
        return inputs


def test_what_cannot_be_loaded_is_told_in_two_lines(tmp_path):
    own = keras.Sequential([keras.Input((3,)), Own()])
    keras.Sequential([keras.Input((3,)), own]).save(tmp_path / "own.keras")
    sequential().save_weights(tmp_path / "model.weights.h5")
    (tmp_path / "text.keras").write_text("no model")
    sequential().save(tmp_path / "damaged.keras")
    content = bytearray((tmp_path / "damaged.keras").read_bytes())
    content[content.index(b"config.json") + 20] ^= 255
    (tmp_path / "damaged.keras").write_bytes(content)
    for name, message in (
        ("own.keras", "Could not locate class 'Own'"),
        ("none.keras", r"none\.keras does not exist"),
        ("", r"is a folder.*SavedModel.*\.keras file"),
        ("model.weights.h5", "No model config found"),
        ("text.keras", r"text\.keras is damaged or not a model"),
        ("damaged.keras", r"cannot load .*damaged\.keras.*CRC-32"),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
            load_model(tmp_path / name)
        assert len(str(caught.value)) < 600
