"""The documentation builds without a warning, shows all public names and is offline."""

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from keras_vaf import layers
from tests.harness import public_names

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
LAYERS = sorted(set(layers.__all__) - {"TrainableActivation"})
LOADED_FROM_OUTSIDE = re.compile(
    r"<(?:script|link|img)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>"
)


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


def test_every_public_name_has_its_place(site):
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    assert public_names().keys() <= {line.split()[0] for line in lines}


def test_nothing_is_loaded_from_outside(site):
    pages = list(site.rglob("*.html"))
    assert pages
    for page in pages:
        assert LOADED_FROM_OUTSIDE.findall(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "tag", ['<script src="https://a.b/c.js">', "<link rel=stylesheet href=//a.b/c.css>"]
)
def test_a_tag_that_loads_from_outside_is_seen(tag):
    assert LOADED_FROM_OUTSIDE.findall(tag) == [tag]


def test_every_picture_says_what_it_shows(site):
    for page in site.rglob("*.html"):
        for tag in re.findall(r"<img\b[^>]*>", page.read_text(encoding="utf-8")):
            assert re.search(r'\balt="[^"]+"', tag), (page, tag)


def test_every_picture_is_there(site):
    for page in site.rglob("*.html"):
        if page.name != "404.html":
            for source in re.findall(
                r'<img\b[^>]* src="(.*?)"', page.read_text("utf-8")
            ):
                assert (page.parent / source).is_file(), (page, source)


@pytest.mark.parametrize("name", LAYERS)
def test_an_activation_has_formula_picture_reference_and_example(site, name):
    page = (site / "api" / "layers" / name / "index.html").read_text(encoding="utf-8")
    article = re.search(r"<article.*?</article>", page, re.S)[0]
    for part in ("<math", f'alt="Plot of {name}"', "Reference", "&gt;&gt;&gt; "):
        assert part in article


def test_the_page_of_a_class_names_its_source(site):
    page = (site / "api" / "layers" / "KAF" / "index.html").read_text(encoding="utf-8")
    assert "keras_vaf/layers/family/kaf.py" in page


def test_a_returned_value_is_one_item(site):
    section = re.compile(r"Returns:</span></p>\s*<ul>(.*?)</ul>", re.S)
    for page in (site / "api").rglob("*.html"):
        for items in section.findall(page.read_text(encoding="utf-8")):
            assert items.count("<li") == 1, page


def test_formulas_are_typeset(site):
    assert "<mi>&#x003B2;</mi>" in (site / "vaf" / "index.html").read_text("utf-8")
    for page in site.rglob("*.html"):
        assert 'class="arithmatex"' not in page.read_text(encoding="utf-8"), page


@pytest.fixture(scope="module")
def found(site):
    """Addresses of the pages in the search index, by the words on them."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    entries = [
        (entry["location"], f"{entry['title']} {entry['text']}".lower())
        for entry in index["docs"]
    ]
    return lambda word: [place for place, text in entries if word in text]


@pytest.mark.parametrize("word", ["conv2d", "csv", "overfit", "gelu", "transformer"])
def test_the_search_finds_what_a_user_looks_for(found, word):
    assert found(word)


def test_generated_reports_are_not_searched(found):
    assert [place for place in found("") if place.startswith("reports/")] == []


@pytest.mark.nightly  # it builds the documentation again
def test_a_repository_gives_source_links_and_edit_buttons(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_VAF_REPOSITORY", "https://example.org/we/keras_vaf")
    site = build(tmp_path)
    page = (site / "api" / "layers" / "KAF" / "index.html").read_text(encoding="utf-8")
    assert "https://example.org/we/keras_vaf/blob/main/keras_vaf/layers/family" in page
    page = (site / "vaf" / "index.html").read_text(encoding="utf-8")
    assert "https://example.org/we/keras_vaf/edit/main/docs/vaf.md" in page
