"""Every command of `keras_vaf_cli.COMMANDS` has its docs, its tests and its example."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

import keras_vaf_cli
from keras_vaf_cli import COMMANDS

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
MORE_PAGES = {"search": ROOT / "docs" / "search.md"}
NAMES = [command.__name__.rpartition(".")[2] for command in COMMANDS]


def parsers(parser, words=()):
    """Return the parser of each command and action, by its words."""
    found = {words: parser}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                found |= parsers(inner, (*words, name))
    return found


PARSERS = parsers(keras_vaf_cli._parser())


def section(name):
    """Return the section of a command in docs/reference.md, or None."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return found and found[1]


def test_every_file_with_arguments_is_a_command():
    files = {
        path.stem
        for path in (ROOT / "keras_vaf_cli").glob("*.py")
        if "\nARGUMENTS" in path.read_text(encoding="utf-8")
    }
    missing = files - set(NAMES)
    assert not missing, f"add to COMMANDS in keras_vaf_cli/__init__.py: {missing}"


@pytest.mark.parametrize("words", PARSERS, ids=lambda words: " ".join(words) or "all")
def test_help_ends_with_examples_that_parse(words):
    name = words[0] if words else "__init__"
    _, _, examples = PARSERS[words].format_help().partition("xample")
    lines = re.findall(r"keras-vaf (.*)", examples.replace("\\\n", " "))
    own = [line for line in lines if shlex.split(line)[: len(words)] == list(words)]
    assert own, f"add an example to the help in keras_vaf_cli/{name}.py"
    for line in lines:
        assert PARSERS[()].parse_args(shlex.split(line)).command


@pytest.mark.parametrize("name", NAMES)
def test_the_docs_name_every_option_and_no_other(name):
    helps = [
        parser.format_help().lower().partition("example")[0]
        for words, parser in PARSERS.items()
        if words[:1] == (name,)
    ]
    options = set(re.findall(r"--[a-z-]+", " ".join(helps))) - {"--help"}
    page = section(name)
    if name in MORE_PAGES:
        page += MORE_PAGES[name].read_text(encoding="utf-8")
    missing = options - set(re.findall(r"--[a-z-]+", page))
    assert not missing, f"add to the docs of {name}: {missing}"
    unknown = set(re.findall(r"^\| `(--[a-z-]+)", page, re.M)) - options
    assert not unknown, f"delete from the docs of {name}: {unknown}"


def test_the_docs_name_every_exit_code():
    rows = re.findall(r"^\| (\d+) \| ", section("Exit codes"), re.M)
    assert rows == ["0", "1", "2", "130", "143"]
