"""The index of the report files lists every committed file."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

REPORTS = Path(__file__).parents[1] / "docs" / "reports"
LONGEST_NAME = 64


def patterns():
    """Return the patterns of the first column of the index."""
    text = (REPORTS / "index.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?) \|", text, re.M)
    return [each for cell in cells for each in re.findall(r"`([^`]+)`", cell)]


def files():
    found = (path for path in REPORTS.rglob("*") if path.is_file())
    return sorted(path.relative_to(REPORTS).as_posix() for path in found)


def matches(name, pattern):
    """Return whether a path matches a pattern whose `*` does not match a slash."""
    parts = name.split("/"), pattern.split("/")
    return len(parts[0]) == len(parts[1]) and all(map(fnmatchcase, *parts))


def test_every_file_is_listed():
    listed = patterns()
    lost = [n for n in files() if not any(matches(n, each) for each in listed)]
    assert lost == ["index.md"]


def test_every_name_is_short():
    names = [name.rpartition("/")[2] for name in files()]
    assert [name for name in names if len(name) > LONGEST_NAME] == []
