"""Models are read and changed from file to file, and the given file stays."""

import errno

import keras
import pytest

from keras_vaf.models import convert, report
from keras_vaf.models.files import change_file, load_model
from tests.models.networks import sequential

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.keras"
    sequential().save(path)
    return path


def test_the_changed_model_is_written_and_returned(saved, tmp_path):
    before = saved.read_bytes()

    result = change_file(saved, tmp_path / "vaf.keras", convert)

    written = load_model(tmp_path / "vaf.keras")
    assert written.count_params() == result.count_params()
    assert report(result)
    assert saved.read_bytes() == before


@pytest.mark.parametrize(
    ("output", "message"),
    [("out.h5", "must end in .keras"), ("model.keras", "same file as an input")],
)
def test_a_wrong_output_is_refused(saved, output, message):
    with pytest.raises(ValueError, match=message):
        change_file(saved, saved.with_name(output), convert)
    assert keras.saving.load_model(saved)


def test_an_existing_file_is_overwritten_only_by_force(saved, tmp_path):
    output = tmp_path / "new.keras"
    output.write_text("old")

    with pytest.raises(FileExistsError, match=r"new\.keras exists.*--force"):
        change_file(saved, output, pytest.fail)
    assert output.read_text() == "old"

    change_file(saved, output, convert, force=True)
    assert load_model(output)


def test_a_missing_folder_is_named_and_not_made(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match="absent does not exist"):
        change_file(saved, tmp_path / "absent" / "new.keras", pytest.fail)
    assert not (tmp_path / "absent").exists()


def test_an_error_of_the_machine_is_not_blamed_on_the_file(saved, monkeypatch):
    full = OSError(errno.ENOSPC, "No space left on device", "/tmp/weights.h5")

    def load(path, compile):
        raise full

    monkeypatch.setattr(keras.saving, "load_model", load)
    with pytest.raises(OSError, match="No space left") as caught:
        load_model(saved)
    assert caught.value is full


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.keras does not exist"):
        load_model(tmp_path / "none.keras")


def test_a_file_that_keras_cannot_load_is_named(tmp_path):
    (tmp_path / "text.keras").write_text("no model")
    with pytest.raises(ValueError, match=r"cannot load .*text\.keras"):
        load_model(tmp_path / "text.keras")


def test_a_save_that_fails_keeps_the_older_file(saved, tmp_path, monkeypatch):
    output = tmp_path / "new.keras"
    output.write_text("old")

    def fail(self, path):
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(keras.Model, "save", fail)
    with pytest.raises(KeyboardInterrupt):
        change_file(saved, output, lambda model: model, force=True)
    assert output.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {saved.name, output.name}
