"""`load` gives the publisher's rows, or one sentence that says what is wrong."""

import dataclasses
import gzip

import numpy as np
import pytest

from keras_vaf.datasets import Size, load
from keras_vaf.datasets.catalogue import File, Source
from keras_vaf.datasets.fetching import is_right
from keras_vaf.datasets.loading import decode
from tests.datasets.publishers import (
    IMAGES,
    TABLE,
    make_entry,
    make_image_entry,
    make_table_entry,
)

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture(autouse=True)
def three_rows(catalogue, monkeypatch):
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    catalogue(make_table_entry(), make_image_entry())


def test_a_table(folder, monkeypatch):
    dataset = load("three", folder)
    assert (dataset.name, dataset.task) == ("three", "regression")
    assert dataset.source == "three/three.csv"
    assert dataset.feature_names == ("a", "b")
    np.testing.assert_array_equal(dataset.x, [[1, 2], [3, 4], [5, 6]])
    np.testing.assert_array_equal(dataset.y, [0.5, 1.5, 2.5])
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder))
    assert load("three").checksum == dataset.checksum
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder / "elsewhere"))
    assert load("three", folder).checksum == dataset.checksum


def test_images(folder):
    dataset = load("pictures", folder)
    assert dataset.source == "pictures/images and 1 more"
    assert dataset.x.shape == (3, 4, 5, 1)
    assert dataset.x.astype("uint8").tobytes() == IMAGES[-60:]
    np.testing.assert_array_equal(dataset.y, [0, 1, 1])


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"\n", b"\r\n"), (b"2.5\n", b"2.5"), (b"\n", b" \n\n")],
    ids=["CRLF", "no last line end", "blanks"],
)
def test_line_ends_and_blanks_do_not_matter(folder, old, new):
    expected = load("three", folder).checksum
    (folder / "three" / "three.csv").write_bytes(TABLE.replace(old, new))
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
    with pytest.raises(ValueError, match=said + "https://publisher.example/three.csv"):
        load("three", folder)


def test_another_file_is_never_decompressed(folder, catalogue, monkeypatch):
    def refuse(*arguments):
        pytest.fail("a file was decompressed before its checksum was right")

    entry = make_table_entry()
    (source,) = entry.sources
    path = "three/three.csv.gz"
    file = dataclasses.replace(source.files[0], path=path, words=None)
    source = dataclasses.replace(source, files=(file,))
    catalogue(dataclasses.replace(entry, sources=(source,)))
    (folder / path).write_bytes(gzip.compress(TABLE))
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
    first = dataclasses.replace(source, files=(file,), note="a subset")
    catalogue(dataclasses.replace(entry, sources=(first, source)))
    assert load("three", folder).source == "three/three.csv"
    (folder / "three" / "other.csv").write_bytes(TABLE)
    assert load("three", folder).source == "three/other.csv (a subset)"


@pytest.mark.parametrize("path", ["Table.CSV", "table.csv.gz", "table.xls"])
def test_a_table_needs_a_target(path):
    with pytest.raises(ValueError, match="--target COLUMN"):
        load(path)


def test_a_file_without_a_known_checksum_is_known_by_its_git_blob():
    # Output of `git hash-object` for the six bytes "hello\n".
    file = File("file", git_blob="ce013625030ba8dba906f756967f9e9ca394464a")
    assert is_right(b"hello\n", file)
    assert not is_right(b"hello", file)


def encode(names, rows, **options):
    source, content = Source("text", (File("some.txt"),)), "\n".join([names, *rows])
    entry = make_entry("some", (source,), target="kind", **options)
    return decode(entry, source, [content.encode()])


def test_cells_become_the_numbers_that_the_catalogue_asks_for():
    labels = {"labels": ("yes", "no"), "class_names": ("Y", "N")}
    dataset = encode("a kind", ["1 no", "2 yes", "3 no"], size=Size(3, 1, 2), **labels)
    assert dataset.class_names == ("Y", "N")
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])
    dataset = encode(
        "id a b kind",
        ["7 1 q 2", "8 ? p 3"],
        size=Size(2, 2),
        left_out={"id": "an identifier"},
        categories={"b": ("p", "q")},
        missing=("?",),
    )
    assert dataset.feature_names == ("a", "b")
    assert dataset.categories == {1: ("p", "q")}
    np.testing.assert_array_equal(dataset.x, [[1, 1], [np.nan, 0]])
    # Such a file has the right words, and so the right checksum, on other lines.
    with pytest.raises(ValueError, match="zip"):
        encode("a kind", ["1 2 3", "4"], size=Size(2, 1))
    with pytest.raises(ValueError, match="tuple"):
        encode("a kind", ["1 maybe"], size=Size(1, 1, 2), **labels)


def test_yacht_needs_no_server(monkeypatch, tmp_path):
    monkeypatch.undo()  # the catalogue of the package, and no folder
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", None)
    dataset = load("yacht")
    assert dataset.x.shape == (308, 6)
    np.testing.assert_allclose(dataset.y.mean(), 10.495, atol=0.001)
    assert list(tmp_path.iterdir()) == []
