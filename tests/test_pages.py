"""Code of the pages runs as written, and their tables and numbers are in order."""

import configparser
import inspect
import json
import re
from pathlib import Path

import pytest

import keras_vaf
from keras_vaf.experiments import find_arms
from keras_vaf.optimizers import activations_apart
from keras_vaf.training import recipe

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text("utf-8") for page in PAGES}
README = TEXTS["README.md"]
default_backend = pytest.mark.backend("tensorflow")


def blocks(page):
    """Return the code blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", TEXTS[page], re.M | re.S)


def run(block, names):
    exec(compile(block, "<example of a page>", "exec"), names)


# Below, by tests/test_docs.py and by tests/zoo/test_frameworks.py.
RUN_ELSEWHERE = ("README.md", "docs/map.md", "docs/frameworks.md", "docs/torch.md")
EXAMPLES = [page for page in TEXTS if page not in RUN_ELSEWHERE and blocks(page)]


# The README runs before each change, the other pages every night.
@pytest.mark.parametrize("block", blocks("README.md"))
def test_an_example_of_the_readme_runs_alone_and_prints_a_formula(block, capsys):
    run(block, {})
    printed = capsys.readouterr().out
    assert printed.startswith("hidden_activation:\nf(a) = ")
    assert " a " in printed.splitlines()[1]


@default_backend
def test_the_readme_has_the_formula_of_its_picture():
    drawn = (ROOT / "docs/reports/examples/vaf.txt").read_text("utf-8").splitlines()
    assert f"`{drawn[0]}`" in README


@pytest.mark.nightly
@default_backend
@pytest.mark.parametrize("page", EXAMPLES)
def test_the_examples_of_a_page_run_in_turn(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # where records are
    names = {}
    for block in blocks(page):
        run(block, names)


@default_backend
@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_what_a_page_outside_of_the_documentation_links_to_is_there(page):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", TEXTS[page])
    files = [target for target in targets if "//" not in target]
    assert [file for file in files if not (ROOT / file).exists()] == []


@default_backend
def test_every_extra_is_explained():
    configuration = configparser.ConfigParser()
    configuration.read(ROOT / "setup.cfg")
    firsts = re.findall(r"^\| (`.*?) \|", TEXTS["docs/five_minutes.md"], re.M)
    explained = re.findall(r"`([\w-]+)`", " ".join(firsts))
    assert sorted(explained) == sorted(configuration["options.extras_require"])


@default_backend
def test_the_first_sentences_have_the_numbers_of_the_registered_answers():
    lines = TEXTS["docs/evidence.md"].splitlines()
    lines = lines[lines.index("<!-- table: registered -->") + 2 :]
    lines = lines[: lines.index("")]
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in lines}
    text = " ".join(TEXTS["docs/help.md"].split())
    for name, compared in (("T1", "the error of ReLU"), ("T4", "its error")):
        _, estimate, interval, _, _, answer = rows[name]
        low, high = (f"{float(number):.2f}" for number in interval.split(" to "))
        assert f"{float(estimate):.2f} times {compared}" in text
        assert f"{low} to {high})" in text
        assert answer == "cannot tell |"


@default_backend
def test_the_table_of_settings_agrees_with_the_defaults():
    use = dict(re.findall(r"^\| ([\w ]+) \| (.+?) \|", TEXTS["docs/choose.md"], re.M))
    default = keras_vaf.VAFActivation().get_config()
    assert use["k"] == str(default["k"])
    assert use["sharing"] == f'`"{default["sharing"]}"`'
    assert use["start"] == f"the default, which starts at {default['initialization']}"
    factor = inspect.signature(activations_apart).parameters["learning_rate_factor"]
    assert use["learning rate"] == "the same for activations and other weights"
    assert factor.default == 1


@default_backend
@pytest.mark.parametrize("name", ["choose.md", "table.md", "reference.md"])
def test_a_page_has_the_learning_rates_of_the_recipe(name):
    (found,) = re.findall(r"0\.0003(?:(?:,| and)\s*0\.\d+)+", TEXTS[f"docs/{name}"])
    assert [*map(float, re.findall(r"0\.\d+", found))] == [*recipe.LEARNING_RATES]


@default_backend
def test_the_page_about_tables_has_the_activations_of_the_recipe():
    *fixed, last = recipe.ACTIVATIONS
    *titles, prelu = (arm.title for arm in find_arms(",".join(fixed)))
    named = f"compares {', '.join(titles)} and {prelu}, and then a VAF"
    assert named in TEXTS["docs/table.md"]
    assert last == "vaf"


@default_backend
def test_the_advice_on_fine_tuning_has_the_printed_accuracies():
    advice = TEXTS["docs/fine_tuning.md"].partition("## Weights to train")[2]
    advice = advice.partition("\n## ")[0].partition("<!-- table")[0]
    book = json.loads((ROOT / "notebooks/8_fine_tuning.ipynb").read_text("utf-8"))
    printed = [
        "".join(output.get("text", ""))
        for cell in book["cells"]
        for output in cell.get("outputs", ())
    ]
    known = re.findall(r"accuracy (0\.\d{3})", "".join(printed))
    stated = re.findall(r"0\.\d{3}", advice)
    assert len(stated) == 4
    assert set(stated) <= set(known)
