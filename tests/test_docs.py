"""The documentation builds without a warning, shows all public names and is offline."""

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pictures
import pytest

from tests.harness import public_names

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/*.md"))
LOADED_FROM_OUTSIDE = re.compile(
    r"<(?:script|link|img)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>"
)
# Pages whose pictures would repeat their tables.
TABLES = {"cost", "evidence", "reference", "reproduction", "works_with_keras"}


def build(folder):
    """Build the documentation into a folder and return it."""
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        check=True,
    )
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder of the built documentation."""
    return build(tmp_path_factory.mktemp("site"))


def test_there_are_few_pages_and_the_navigation_has_each():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    assert sorted(re.findall(r"\w+\.md", navigation)) == [p.name for p in PAGES]
    assert len(PAGES) <= 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_a_picture_that_the_repository_has(page):
    text = page.read_text("utf-8").replace("--8<--", "![](images/vaf.png)")
    shown = re.findall(r"!\[.*?\]\(([^)]+)\)", text)
    assert shown or page.stem in TABLES
    assert [name for name in shown if not (page.parent / name).is_file()] == []


def test_each_drawn_picture_is_committed_and_shown():
    shown = "".join(page.read_text("utf-8") for page in [*PAGES, ROOT / "README.md"])
    for name in pictures.PICTURES:
        assert re.search(rf"images/(examples/)?{name}\.png\)", shown), name


@pytest.mark.nightly  # 9 to 34 seconds each
@pytest.mark.backend("jax")
@pytest.mark.parametrize("name", pictures.EXAMPLE)
def test_the_code_of_an_example_runs_alone(name):
    printed = pictures.example(name, length=2)
    pictures.pyplot.close("all")
    expected = (pictures.EXAMPLES / f"{name}.txt").read_text("utf-8")
    lines = printed.splitlines()
    assert len(lines) == len(expected.splitlines()) - 1  # and that of the versions
    for line, other in zip(lines, expected.splitlines(), strict=False):
        assert line.partition(":")[0] == other.partition(":")[0]


@pytest.mark.nightly  # it builds the documentation
class TestSite:
    def test_every_public_name_has_its_place(self, site):
        inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
        lines = zlib.decompress(inventory).decode().splitlines()
        assert public_names().keys() <= {line.split()[0] for line in lines}

    def test_nothing_is_loaded_from_outside(self, site):
        pages = list(site.rglob("*.html"))
        assert pages
        for page in pages:
            assert LOADED_FROM_OUTSIDE.findall(page.read_text("utf-8")) == [], page

    def test_every_picture_is_there(self, site):
        for page in site.rglob("*.html"):
            if page.name != "404.html":
                text = page.read_text("utf-8")
                for source in re.findall(r'<img\b[^>]* src="(.*?)"', text):
                    there = (
                        source.startswith("data:") or (page.parent / source).is_file()
                    )
                    assert there, (page, source)

    def test_every_notebook_has_a_page(self, site):
        for path in ROOT.glob("notebooks/*.ipynb"):
            page = (site / "notebooks" / path.stem / "index.html").read_text("utf-8")
            assert "data:image/png" in page

    def test_a_doctest_of_the_reference_is_code(self, site):
        page = (site / "reference" / "index.html").read_text("utf-8")
        assert len(re.findall(r'class="language-pycon', page)) > 50

    def test_formulas_are_typeset(self, site):
        page = (site / "vaf" / "index.html").read_text("utf-8")
        assert "<mi>&#x003B2;</mi>" in page
        for page in site.rglob("*.html"):
            assert 'class="arithmatex"' not in page.read_text("utf-8"), page

    @pytest.mark.parametrize(
        ("word", "expected"),
        [
            ("conv2d", "convert/"),
            ("csv", "table/"),
            ("overfit", "choose/"),
            ("which k", "choose/"),
            ("plot activations", "explain/"),
        ],
    )
    def test_the_search_index_has_what_a_user_looks_for(self, site, word, expected):
        index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
        entries = index["docs"]
        found = [
            e["location"]
            for e in entries
            if word in f"{e['title']} {e['text']}".lower()
        ]
        assert expected in {place.partition("#")[0] for place in found}
        assert not any(place.startswith(("reports/", "records/")) for place in found)


def test_a_tag_that_loads_from_outside_is_seen():
    for tag in ('<script src="https://a.b/c.js">', "<link href=//a.b/c.css>"):
        assert LOADED_FROM_OUTSIDE.findall(tag) == [tag]
