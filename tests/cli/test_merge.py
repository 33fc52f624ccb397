"""`keras-vaf merge`, from the words of the command line to files and exit codes."""

import pytest

from keras_vaf.experiments import Store
from keras_vaf_cli import main
from tests.experiments.fakes import NETWORK, make_report

pytestmark = pytest.mark.backend("tensorflow")


def test_names_what_it_leaves_out(tmp_path, capsys):
    place = {"backend": "tensorflow", "device": "cpu:0"}
    store = Store(tmp_path / "a" / "cells")
    for fold in (0, 1):
        store.write(make_report(fold=fold, environment=place), NETWORK)
    torn = store.path(make_report(fold=0).cell)
    torn.write_text("{")

    assert main(["merge", str(tmp_path / "a"), "-o", str(tmp_path / "b")]) == 0

    said = capsys.readouterr()
    assert said.err == (f"keras-vaf: {torn} is not a valid report and was left out.\n")
    assert said.out.startswith(f"Copied 1 reports to {tmp_path / 'b'}; 0 were")


def test_refuses_a_folder_of_something_else(tmp_path, capsys):
    assert main(["merge", str(tmp_path), "-o", str(tmp_path / "b")]) == 2

    said = capsys.readouterr().err
    assert said.startswith("keras-vaf: ")
    assert f"{tmp_path} is not a folder of results" in said
    assert said.count("\n") == 1
