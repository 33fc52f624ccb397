"""One page decides the settings, and no other text contradicts it."""

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
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
# Advice in other words than those of a fact.
ADVICE = re.compile(
    r"recommend|rule of thumb|we suggest|good choice|\b(?:should|always) use\b|"
    r"\bprefer\b|try .{1,40} first\b|\bin short\b",
    re.I,
)
# What the papers of other activations advise.
OTHERS = {"by their rule of thumb, as k and g are chosen for a VAF"}


def paragraphs(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells)
    return re.split(r"\n\s*\n|\n(?=- )", text)


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.name)
def test_only_one_page_gives_advice_or_the_paragraph_links_to_it(path):
    if path.name == "choose.md":
        return
    found = [
        text
        for text in paragraphs(path)
        if ADVICE.search(text) and "choose.md" not in text
    ]
    assert [text for text in found if not any(each in text for each in OTHERS)] == []


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
