"""The documentation builds without a warning, shows all public names and is offline."""

import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.harness import public_names

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
LOADED_FROM_OUTSIDE = re.compile(
    r"<(?:script|link|img)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder of the built documentation."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        check=True,
    )
    return folder


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
