"""The picture of the architecture is that of the imports."""

import re
from pathlib import Path
from xml.etree import ElementTree

import architecture_picture as picture
import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]


@pytest.fixture
def project(tmp_path):
    """A project of four parts: top imports middle and low, middle imports low."""
    files = {
        "__init__.py": "from keras_vaf import middle",
        "top.py": "import keras_vaf.middle\nfrom keras_vaf.low.sums import add",
        "middle/__init__.py": "from keras_vaf.middle import more",
        "middle/more.py": "def f():\n    from keras_vaf import low\n    return low",
        "low/__init__.py": "from keras_vaf.utils import help",
        "low/sums.py": "import numpy",
        "utils.py": "",
    }
    for name, text in files.items():
        path = tmp_path / "keras_vaf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_reads_the_imports(project):
    arrows = picture.imports(project)
    assert arrows == {"top": {"middle", "low"}, "middle": {"low"}, "low": set()}


def test_leaves_out_shortcuts_and_puts_each_part_above_what_it_imports(project):
    arrows = picture.imports(project)
    short = picture.without_shortcuts(arrows)
    assert short == {"top": {"middle"}, "middle": {"low"}, "low": set()}
    assert picture.rows(arrows) == [["top"], ["middle"], ["low"]]


def test_shows_every_package_and_every_arrow():
    arrows = picture.imports()
    drawn = picture.svg(arrows)
    ElementTree.fromstring(drawn)
    parts = {path.parent.name for path in (ROOT / "keras_vaf").glob("*/__init__.py")}
    parts |= {"keras_vaf_cli"}
    assert set(re.findall(r"<text[^>]*>(\w+)</text>", drawn)) == parts - {"utils"}
    assert drawn.count("marker-end") == sum(
        map(len, picture.without_shortcuts(arrows).values())
    )


def test_the_documentation_shows_it_and_names_the_part_that_can_wait():
    page = (ROOT / "docs" / "carry_on.md").read_text(encoding="utf-8")
    assert "](architecture.svg)" in page
    (later,) = re.findall(r"^- \*\*The part .*?(?=\n\n)", page, re.M | re.S)
    folders = {*picture.LATER, "ops/native"}
    assert all(f"`{folder}`" in later for folder in folders)
    lines = {
        path.relative_to(ROOT / "keras_vaf").as_posix(): path.read_text().count("\n")
        for kind in ("py", "cc", "h")
        for path in ROOT.glob(f"keras_vaf/**/*.{kind}")
    }
    part = sum(
        count for name, count in lines.items() if name.startswith(tuple(folders))
    )
    assert 0.25 < part / sum(lines.values()) < 0.34
