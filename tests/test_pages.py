"""Code and commands of the README and the documentation work as written."""

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")),
]


def blocks(page, language):
    """Return the code blocks of a page in a language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def run(block, names):
    exec(compile(block, "<example of a page>", "exec"), names)


# tests/test_page_tables.py and tests/test_docs.py run these.
RUN_ELSEWHERE = ["docs/records/reproduction.md", "docs/gallery.md"]


def is_run(page):
    """Return whether a page has code that no other test runs."""
    return page not in RUN_ELSEWHERE and blocks(page, "python")


DAILY = "docs/convert.md"
"""The page whose examples run before each change; the others run every night."""


def examples():
    """Return the pages with examples, all but one of which run every night."""
    pages = [page for page in [*PAGES[1:], "CONTRIBUTING.md"] if is_run(page)]
    late = [pytest.mark.nightly]
    return [pytest.param(page, marks=late * (page != DAILY)) for page in pages]


PRINTED = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", re.M | re.S)
README = (ROOT / "README.md").read_text(encoding="utf-8")


# The README runs on every backend, the other pages on the default one.
@pytest.mark.parametrize(("block", "printed"), PRINTED.findall(README))
def test_an_example_of_the_readme_prints_what_stands_below(block, printed, capsys):
    run(block, {})
    assert capsys.readouterr().out == printed


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("page", examples())
def test_the_examples_of_a_page_run_in_turn(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(page, "python"):
        run(block, names)


def linked_files(page):
    """Return the files that a page links to or shows, but for those elsewhere."""
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    return [target for target in targets if "//" not in target]


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_what_a_page_outside_of_the_documentation_links_to_is_there(page):
    missing = [file for file in linked_files(page) if not (ROOT / file).exists()]
    assert missing == []


@pytest.mark.backend("tensorflow")
def test_every_extra_is_explained():
    configuration = configparser.ConfigParser()
    configuration.read(ROOT / "setup.cfg")
    page = (ROOT / "docs" / "five_minutes.md").read_text(encoding="utf-8")
    firsts = re.findall(r"^\| (`.*?) \|", page, re.M)
    explained = re.findall(r"`([\w-]+)`", " ".join(firsts))
    assert sorted(explained) == sorted(configuration["options.extras_require"])
