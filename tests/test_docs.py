"""The documentation builds without a warning and shows all public names and pictures.

`tests/browser` looks at the built pages: their links, pictures, formulas and search.
"""

import ast
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


def test_there_are_few_pages_and_the_navigation_has_each():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[2]
    pages = sorted(p.name for p in PAGES)
    parts = sorted(f"reference/{p.name}" for p in ROOT.glob("docs/reference/*.md"))
    assert sorted(re.findall(r"[\w/]+\.md", navigation)) == sorted(pages + parts)
    assert len(PAGES) <= 22  # the parts of the reference are counted once


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_a_picture_that_the_repository_has(page):
    text = page.read_text("utf-8").replace("--8<--", "![](images/vaf.png)")
    shown = re.findall(r"!\[.*?\]\(([^)]+)\)", text)
    assert shown or page.stem in TABLES
    assert [name for name in shown if not (page.parent / name).is_file()] == []


def text_of(node):
    """Return a string of the package, with … for what varies."""
    if isinstance(node, ast.JoinedStr):
        parts = [getattr(part, "value", None) for part in node.values]
        return "".join(part if isinstance(part, str) else "…" for part in parts)
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else ""


def test_each_message_that_the_reference_explains_is_in_the_package():
    sources = [path.read_text("utf-8") for path in ROOT.glob("keras_vaf*/**/*.py")]
    nodes = [node for source in sources for node in ast.walk(ast.parse(source))]
    texts = [*map(text_of, nodes)]
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    firsts = re.findall(r"^\| (`.*?) \| ", page, re.M)
    quoted = [re.sub(r"^`+ ?| ?`+$", "", first) for first in firsts]
    assert len(quoted) > 10
    for message in quoted:
        if not message.endswith("(of Keras)"):
            pattern = ".*".join(map(re.escape, message.split("…")))
            assert any(re.search(pattern, text, re.S) for text in texts), message


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
def test_the_site_has_every_public_name_and_every_notebook(tmp_path):
    site = build(tmp_path)
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    assert public_names().keys() <= {line.split()[0] for line in lines}
    for path in ROOT.glob("notebooks/*.ipynb"):
        page = (site / "notebooks" / path.stem / "index.html").read_text("utf-8")
        assert "data:image/png" in page
