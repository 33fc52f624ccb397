"""What the pages advise has the numbers of the code and of the records."""

import inspect
import json
import re
from pathlib import Path

import pytest

import keras_vaf
from keras_vaf.experiments import find_arms
from keras_vaf.optimizers import activations_apart
from keras_vaf.training import recipe

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
CHOOSE = (ROOT / "docs" / "choose.md").read_text(encoding="utf-8")


def test_the_table_of_settings_agrees_with_the_defaults():
    use = dict(re.findall(r"^\| ([\w ]+) \| (.+?) \|", CHOOSE, re.M))
    default = keras_vaf.VAFActivation().get_config()
    assert use["k"] == str(default["k"])
    assert use["sharing"] == f'`"{default["sharing"]}"`'
    assert use["start"] == f"the default, which starts at {default['initialization']}"
    factor = inspect.signature(activations_apart).parameters["learning_rate_factor"]
    assert use["learning rate"] == "the same for activations and other weights"
    assert factor.default == 1


@pytest.mark.parametrize("name", ["choose.md", "table.md", "reference.md"])
def test_a_page_has_the_learning_rates_of_the_recipe(name):
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    (found,) = re.findall(r"0\.0003(?:(?:,| and)\s*0\.\d+)+", text)
    assert [*map(float, re.findall(r"0\.\d+", found))] == [*recipe.LEARNING_RATES]


def test_the_page_about_tables_has_the_activations_of_the_recipe():
    text = (ROOT / "docs" / "table.md").read_text(encoding="utf-8")
    fixed = [each for each in recipe.ACTIVATIONS if not each.startswith("vaf")]
    titles = [arm.title for arm in find_arms(",".join(fixed))]
    assert f"compares {', '.join(titles)} and two VAFs" in text


def test_the_advice_on_fine_tuning_has_the_printed_accuracies():
    page = (ROOT / "docs" / "fine_tuning.md").read_text(encoding="utf-8")
    advice = page.partition("## What to train")[2].partition("\n## ")[0]
    example = ROOT / "docs/reports/examples/fine_tuning.txt"
    book = json.loads((ROOT / "notebooks/8_fine_tuning.ipynb").read_text("utf-8"))
    printed = [
        "".join(output.get("text", ""))
        for cell in book["cells"]
        for output in cell.get("outputs", ())
    ]
    known = re.findall(r"accuracy (0\.\d{3})", "".join([*printed, example.read_text()]))
    stated = re.findall(r"0\.\d{3}", advice)
    assert len(stated) == 6
    assert set(stated) <= set(known)
