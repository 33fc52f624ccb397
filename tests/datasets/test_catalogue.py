"""Each entry of the catalogue is complete."""

import inspect
import re

import pytest

from keras_vaf.datasets import CATALOGUE, find, parsers

pytestmark = pytest.mark.backend("tensorflow")

SOURCES = [source for entry in CATALOGUE for source in entry.sources]
FILES = {file.path: file for source in SOURCES for file in source.files}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_an_entry_is_complete(entry):
    assert entry.paper_size != entry.size
    assert entry.paper_size is None or entry.difference
    assert len(entry.labels) == (entry.size.classes or 0)
    assert len(entry.class_names) in (0, len(entry.labels))
    assert any(s.files and all(file.urls for file in s.files) for s in entry.sources)
    assert re.fullmatch(r"https?://\S+", entry.publisher)
    assert entry.licence
    assert entry.citation


def test_each_source_has_a_reader_and_each_file_a_checksum_and_addresses():
    for source in SOURCES:
        reader = getattr(parsers, f"read_{source.format}")
        inspect.signature(reader).bind([], **source.options)
    for path, file in FILES.items():
        assert re.fullmatch(r"[a-z0-9_]+(/[\w.-]+)+", path)
        assert file.git_blob or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert all(re.fullmatch(r"https?://[\w.-]+/\S+\.\w+", url) for url in file.urls)


def test_a_name_nearly_right_is_guessed():
    with pytest.raises(ValueError, match=r"one of 'cpu_small'.*'wine'\?.*'wines'"):
        find("wines")
