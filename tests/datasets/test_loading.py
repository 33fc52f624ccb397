"""`load` gives the publisher's rows, or one sentence that says what is wrong."""

import dataclasses
import gzip

import numpy as np
import pytest

from keras_vaf.datasets import load
from keras_vaf.datasets.catalogue import File
from keras_vaf.datasets.fetching import is_right
from tests.datasets.three_rows import (
    IMAGES,
    TABLE,
    make_image_entry,
    make_table_entry,
)

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture(autouse=True)
def three_rows(catalogue, monkeypatch):
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    catalogue(make_table_entry(), make_image_entry())


def test_a_table(folder):
    dataset = load("three", folder)
    assert (dataset.name, dataset.task) == ("three", "regression")
    assert dataset.source == "three/three.csv"
    assert dataset.feature_names == ("a", "b")
    np.testing.assert_array_equal(dataset.x, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(dataset.y, [0.5, 1.5, 2.5])


def test_images(folder):
    dataset = load("pictures", folder)
    assert dataset.source == "pictures/images and 1 more"
    assert dataset.x.shape == (3, 4, 5, 1)
    assert dataset.x.astype("uint8").tobytes() == IMAGES[-60:]
    np.testing.assert_array_equal(dataset.y, [0, 1, 1])


def test_the_environment_names_the_folder_and_the_argument_goes_first(
    folder, monkeypatch
):
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder))
    expected = load("three").checksum
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder / "elsewhere"))
    assert load("three", folder).checksum == expected


@pytest.mark.parametrize(
    "content",
    [
        TABLE.replace(b"\n", b"\r\n"),
        TABLE[:-1],
        TABLE.replace(b"\n", b" \n\n"),
    ],
    ids=["CRLF", "no last line end", "blanks"],
)
def test_line_ends_and_blanks_do_not_matter(folder, content):
    expected = load("three", folder).checksum
    (folder / "three" / "three.csv").write_bytes(content)
    assert load("three", folder).checksum == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (TABLE[:20], "it has 20 bytes instead of 30"),
        (TABLE.replace(b"0.5", b"0.6"), "its SHA-256 is [0-9a-f]{64}"),
    ],
)
def test_another_table_is_refused(folder, content, message):
    (folder / "three" / "three.csv").write_bytes(content)
    said = f"{folder}/three/three.csv is not the publisher's file: {message}.* from "
    with pytest.raises(
        ValueError, match=said + r"https://publisher.example/three\.csv"
    ):
        load("three", folder)


def test_another_file_is_never_decompressed(folder, catalogue, monkeypatch):
    def refuse(*arguments):
        pytest.fail("a file was decompressed before its checksum was right")

    entry = make_table_entry()
    (source,) = entry.sources
    (file,) = source.files
    file = dataclasses.replace(file, path="three/three.csv.gz", words=None)
    source = dataclasses.replace(source, files=(file,))
    catalogue(dataclasses.replace(entry, sources=(source,)))
    (folder / "three" / "three.csv.gz").write_bytes(gzip.compress(TABLE))
    monkeypatch.setattr(gzip, "decompress", refuse)
    with pytest.raises(ValueError, match="is not the publisher's file"):
        load("three", folder)


def test_a_missing_file_is_named_with_where_to_get_it(folder):
    (folder / "pictures" / "labels").unlink()
    said = r"does not contain pictures/labels\. Get it from https://p.example/lab"
    with pytest.raises(FileNotFoundError, match=said):
        load("pictures", folder)


def test_the_first_form_at_hand_is_taken(folder, catalogue):
    entry = make_table_entry()
    (source,) = entry.sources
    file = dataclasses.replace(source.files[0], path="three/other.csv")
    note = "a subset of 3 of the 9 rows"
    first = dataclasses.replace(source, files=(file,), note=note)
    catalogue(dataclasses.replace(entry, sources=(first, source)))
    assert load("three", folder).source == "three/three.csv"
    (folder / "three" / "other.csv").write_bytes(TABLE)
    assert load("three", folder).source == f"three/other.csv ({note})"


@pytest.mark.parametrize("path", ["Table.CSV", "table.csv.gz", "table.xls"])
def test_a_table_needs_a_target(path):
    with pytest.raises(ValueError, match="--target COLUMN"):
        load(path)


def test_a_file_without_a_known_checksum_is_known_by_its_git_blob():
    # Output of `git hash-object` for the six bytes "hello\n".
    file = File("file", git_blob="ce013625030ba8dba906f756967f9e9ca394464a")
    assert is_right(b"hello\n", file)
    assert not is_right(b"hello", file)
