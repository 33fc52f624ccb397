"""The page of the command line names all that `keras-vaf reproduce` takes."""

import re
from pathlib import Path

import pytest

from keras_vaf.cli import main

pytestmark = pytest.mark.backend("tensorflow")


def test_the_page_names_every_option(capsys):
    page = Path(__file__).parents[2] / "docs" / "cli.md"
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])

    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help"}

    section = page.read_text().split("## reproduce")[1].split("\n## ")[0]
    assert options == set(re.findall(r"`(--[a-z-]+)", section))
