"""Every command of `keras_vaf_cli.COMMANDS` has its docs, its tests and its example."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

import keras_vaf_cli
from keras_vaf.experiments import find_arms
from keras_vaf_cli import COMMANDS

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
MORE_PAGES = {"search": ROOT / "docs" / "search.md"}
NAMES = [command.__name__.rpartition(".")[2].replace("_", "-") for command in COMMANDS]


PARSER = keras_vaf_cli._parser()
[_CHOICES] = [
    action.choices
    for action in PARSER._actions
    if isinstance(action, argparse._SubParsersAction)
]
PARSERS = {"": PARSER, **_CHOICES}


def section(name):
    """Return the section of a command in docs/reference.md, or None."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found and found[1]


@pytest.mark.parametrize("name", PARSERS)
def test_help_ends_with_examples_that_parse(name):
    _, _, examples = PARSERS[name].format_help().partition("xample")
    lines = re.findall(r"keras-vaf (.*)", examples.replace("\\\n", " "))
    own = [line for line in lines if line.startswith(name)]
    assert own, f"add an example to the help in keras_vaf_cli/{name or '__init__'}.py"
    for line in lines:
        assert PARSER.parse_args(shlex.split(line)).command


def test_the_commands_of_the_pages_are_valid():
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    pattern = rf"keras-vaf ((?:{'|'.join(NAMES)}) [^\n`#|&]+)"
    for line in re.findall(pattern, text):
        given = PARSER.parse_args(shlex.split(line))
        find_arms(",".join(getattr(given, "activations", ["relu"])))


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_name_every_option_and_no_other(name):
    said = PARSERS[name].format_help().lower().partition("example")[0]
    options = set(re.findall(r"--[a-z-]+", said)) - {"--help"}
    page = section(name)
    if name in MORE_PAGES:
        page += MORE_PAGES[name].read_text(encoding="utf-8")
    others = section("compare") if "are those of [`compare`]" in page else ""
    missing = options - set(re.findall(r"--[a-z-]+", page + others))
    assert not missing, f"add to the docs of {name}: {missing}"
    unknown = set(re.findall(r"^\| `(--[a-z-]+)", page, re.M)) - options
    assert not unknown, f"delete from the docs of {name}: {unknown}"


def test_the_docs_name_every_exit_code():
    rows = re.findall(r"^\| (\d+) \| ", section("Exit codes"), re.M)
    assert rows == ["0", "1", "2", "130", "143"]
