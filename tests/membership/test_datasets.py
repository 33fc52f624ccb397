"""A dataset of the catalogue is complete, or a test names the line to add."""

import dataclasses
import functools
from pathlib import Path

import pytest

from keras_vaf.datasets import CATALOGUE, File, Source, find
from keras_vaf.datasets.listing import catalogue_table
from keras_vaf.utils import markdown_table
from tests.datasets.pins import CHECKSUMS
from tests.datasets.test_publishers_files import COMPARED

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
PARSER_TESTS = (ROOT / "tests" / "datasets" / "test_parsers.py").read_text("utf-8")


def docs_line(entry):
    """Return the entry's line in the table of the documentation."""
    header, *rows = catalogue_table((entry,))
    return markdown_table(header, rows, len(header)).splitlines()[-1]


def reader(source):
    """Return the name of the function that reads a source."""
    read = source.read
    return (read.func if isinstance(read, functools.partial) else read).__name__


def missing(entry):
    """Return what an entry lacks: a file, and the line to add to it."""
    name, lines = entry.name, []
    for field in ("licence", "citation", "publisher"):
        if not getattr(entry, field):
            lines.append(f'keras_vaf/datasets/catalogue, Entry {name}: {field}="…",')
    for source in entry.sources:
        for file in source.files:
            if not (file.sha256 or file.git_blob):
                lines.append(f'keras_vaf/datasets/catalogue, {file.path}: sha256="…",')
        if f"{reader(source)}(" not in PARSER_TESTS:
            lines.append(
                f"tests/datasets/test_parsers.py: def test_{reader(source)}():"
            )
    if docs_line(entry) not in PAGE:
        lines.append(f"docs/datasets.md: {docs_line(entry)}")
    if name not in CHECKSUMS:
        line = f'"{name}": "…",  # load("{name}").checksum[:32]'
        lines.append(f"tests/datasets/pins.py, CHECKSUMS: {line}")
    if name not in COMPARED:
        line = f'"{name}": (read, path, target),'
        lines.append(f"tests/datasets/test_publishers_files.py, REFERENCES: {line}")
    return lines


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_a_dataset_is_complete(entry):
    lines = "\n  ".join(missing(entry))
    assert not lines, f"{entry.name} is not complete; add:\n  {lines}"


def test_nothing_is_pinned_or_compared_that_the_catalogue_lacks():
    names = {entry.name for entry in CATALOGUE}
    assert CHECKSUMS.keys() | COMPARED <= names


def test_the_lines_of_a_new_dataset_are_named():
    def read_new_format(contents):
        return contents

    entry = dataclasses.replace(
        find("wine"),
        name="new",
        licence="",
        citation="",
        sources=(Source(read_new_format, (File("new/new.data"),)),),
    )
    assert missing(entry) == [
        'keras_vaf/datasets/catalogue, Entry new: licence="…",',
        'keras_vaf/datasets/catalogue, Entry new: citation="…",',
        'keras_vaf/datasets/catalogue, new/new.data: sha256="…",',
        "tests/datasets/test_parsers.py: def test_read_new_format():",
        "docs/datasets.md: | new | classification | 178 | 13 | 3 | Wine: the same |  |",
        'tests/datasets/pins.py, CHECKSUMS: "new": "…",  # load("new").checksum[:32]',
        "tests/datasets/test_publishers_files.py, REFERENCES: "
        '"new": (read, path, target),',
    ]
