"""Each of the paper's experiments is on its page, and its data in the catalogue."""

import re
from pathlib import Path

import pytest

from keras_vaf.datasets import CATALOGUE
from keras_vaf.paper.reproduction import EXPERIMENTS

pytestmark = pytest.mark.backend("tensorflow")

PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_on_its_page_and_its_data_in_the_catalogue(name):
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.M)
    named = {each for row in rows for each in re.findall(r"`(.*?)`", row)}
    assert name in named, (
        "Add to the table of experiments in docs/reproduction.md the row:\n"
        f"| `{name}` | what is trained |"
    )
    known = {entry.name for entry in CATALOGUE}
    assert {*EXPERIMENTS[name].datasets} <= known
