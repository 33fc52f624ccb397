"""The code of each example page runs on every backend, and its results are there."""

import importlib
from pathlib import Path

import pytest
from matplotlib import pyplot

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(path.stem for path in (DOCS / "examples").glob("*.md"))
LINES = 105


@pytest.fixture
def module():
    """The module that makes the pictures."""
    return importlib.import_module("example_pictures")


@pytest.mark.nightly  # 9 to 34 seconds for each page
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_alone_and_saves_its_picture(module, page):
    printed = module.run(page, length=2)
    assert len(printed.splitlines()) >= 3
    pyplot.close("all")


@pytest.mark.backend("tensorflow")
def test_a_page_without_its_picture_is_named(module, monkeypatch, tmp_path):
    page = tmp_path / "empty.md"
    page.write_text("```python\nSTEPS = 5\nprint(STEPS)\n```\n")
    monkeypatch.setitem(module.PAGES, "empty", page)
    with pytest.raises(ValueError, match="saves empty"):
        module.run("empty", length=1)


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_a_picture_printed_lines_and_a_result_of_the_map(page):
    text = (DOCS / "examples" / f"{page}.md").read_text("utf-8")
    assert f"](../images/examples/{page}.png)" in text
    assert (DOCS / "images" / "examples" / f"{page}.png").is_file()
    assert f'--8<-- "docs/reports/examples/{page}.txt"' in text
    assert f"<!-- table: map-{page.replace('_', '-')} -->" in text
    assert "(../map.md)" in text
    assert len(text.splitlines()) <= LINES
