"""The documentation builds without a warning and shows all public names and pictures.

`tests/browser` looks at the built pages: their links, pictures, formulas and search.
"""

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


def build(folder):
    """Build the documentation into a folder and return it."""
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        check=True,
    )
    return folder


def test_each_message_that_the_reference_explains_is_in_the_package():
    files = (path.read_text("utf-8") for path in ROOT.glob("keras_vaf*/**/*.py"))
    messages = re.sub(r'"\s+f?"', "", "".join(files))  # parts of one string are joined
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    quoted = re.findall(r"^\| `+ ?(.*?) ?`+ \| ", page, re.M)
    assert len(quoted) >= 10
    for message in quoted:
        assert re.search(".*".join(map(re.escape, message.split("…"))), messages)


@pytest.mark.nightly
@pytest.mark.backend("jax")
def test_the_code_of_the_equation_runs_alone():
    printed = pictures.run(pictures.blocks("map.md")[0], length=2)
    pictures.pyplot.close("all")
    lines = (pictures.EXAMPLES / "physics.txt").read_text("utf-8").splitlines()
    names = [line.partition(":")[0] for line in lines[:-1]]  # the last has versions
    assert [line.partition(":")[0] for line in printed.splitlines()] == names


@pytest.mark.nightly  # it builds the documentation
def test_the_site_has_every_public_name_and_every_notebook(tmp_path):
    site = build(tmp_path)
    inventory = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(inventory).decode().splitlines()
    assert public_names().keys() <= {line.split()[0] for line in lines}
    for path in ROOT.glob("notebooks/*.ipynb"):
        page = (site / "notebooks" / path.stem / "index.html").read_text("utf-8")
        assert "data:image/png" in page
