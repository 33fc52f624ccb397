"""Datasets of three rows and a saved model, for the commands."""

import shlex

import pytest

from keras_vaf_cli import main
from tests.datasets.conftest import catalogue, folder  # noqa: F401
from tests.models.networks import sequential


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Function that runs a command line in an empty folder.

    It returns exit code, output and errors.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # a table that is not wrapped

    def run_line(line):
        capsys.readouterr()
        try:
            code = main(shlex.split(line))
        except SystemExit as stop:  # an error of the parser
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_line


@pytest.fixture
def model(tmp_path):
    """A model with fixed activations, saved as model.keras where `run` runs."""
    model = sequential()
    model.save(tmp_path / "model.keras")
    return model


@pytest.fixture
def refusal(run):
    """Function that returns the one sentence with which a command line is refused."""

    def refuse(line):
        code, output, errors = run(line)
        assert code == 2
        assert "Written to" not in output
        said = errors[errors.index("keras-vaf: ") :]
        assert said.count("\n") == 1
        return said

    return refuse
