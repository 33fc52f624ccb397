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
def test_existing_files_and_inputs_are_kept(
    run, refusal, inputs, tmp_path, monkeypatch, command
):
    path, source = tmp_path / "out.keras", command.split()[1]
    path.write_text("old")
    before = (tmp_path / source).read_bytes()

    assert "out.keras exists" in refusal(f"{command} out.keras")
    assert path.read_text() == "old"
    assert "same file as an input" in refusal(f"{command} {source} --force")
    assert (tmp_path / source).read_bytes() == before
    assert "absent does not exist" in refusal(f"{command} absent/out.keras")
    assert not (tmp_path / "absent").exists()
    assert run(f"{command} out.keras --force")[0] == 0
    assert path.read_bytes() != b"old"

    path.unlink()
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("of another process"))
    assert "out.keras exists" in refusal(f"{command} out.keras")
    assert path.read_text() == "of another process"
