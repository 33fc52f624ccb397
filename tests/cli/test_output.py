"""Every command that writes one file keeps an existing one, unless `--force`."""

import os

import pytest

pytestmark = pytest.mark.backend("tensorflow")

COMMANDS = (
    "convert model.keras -o",
    "simplify vaf.keras -o",
    "freeze vaf.keras -o",
    "inspect vaf.keras --picture",
)


@pytest.fixture
def inputs(run, model):
    """A model with fixed activations, and one with VAFs."""
    run("convert model.keras -o vaf.keras")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_existing_file_needs_force(run, refusal, inputs, tmp_path, command):
    path = tmp_path / "out.keras"
    path.write_text("old")

    assert "out.keras exists" in refusal(f"{command} out.keras")
    assert path.read_text() == "old"

    assert run(f"{command} out.keras --force")[0] == 0
    assert path.read_bytes() != b"old"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_another_process_writes_meanwhile_is_kept(
    run, inputs, tmp_path, monkeypatch, command
):
    path = tmp_path / "out.keras"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("of another process"))

    code, _, errors = run(f"{command} out.keras")
    assert (code, "out.keras exists" in errors) == (2, True)
    assert path.read_text() == "of another process"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_input_is_never_overwritten(refusal, inputs, tmp_path, command):
    source = command.split()[1]
    before = (tmp_path / source).read_bytes()

    assert "must not be the same file as" in refusal(f"{command} {source} --force")
    assert (tmp_path / source).read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_folder_is_an_error(refusal, inputs, tmp_path, command):
    message = refusal(f"{command} absent/out.keras")

    assert "absent does not exist" in message
    assert not (tmp_path / "absent").exists()
