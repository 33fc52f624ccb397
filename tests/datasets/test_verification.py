"""The check of a data folder against the publishers' files."""

import dataclasses

import pytest

from keras_vaf.datasets import find
from keras_vaf.datasets.fetching import verify_files
from tests.datasets.three_rows import TABLE, make_table_entry

pytestmark = pytest.mark.backend("tensorflow")


def test_right_absent_and_shared_files(catalogue, folder):
    entry = make_table_entry()
    catalogue(entry, find("yacht"), dataclasses.replace(entry, name="again"))

    assert list(verify_files(folder)) == [
        ("three", "three/three.csv", ""),
        ("yacht", None, ""),
    ]


def test_a_wrong_file_is_explained(catalogue, folder):
    catalogue(make_table_entry())
    (folder / "three" / "three.csv").write_bytes(TABLE[:9])

    (file,) = verify_files(folder)

    assert "is not the publisher's file: it has 9 bytes" in file.problem


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"data folder .*none does not exist"):
        list(verify_files(tmp_path / "none"))
