"""`load` gives the publisher's rows, or one sentence that says what is wrong."""

import dataclasses
import gzip

import numpy as np
import pytest
from sklearn.datasets import load_wine

from keras_vaf.datasets import Size, load
from tests.datasets.three_rows import (
    IMAGES,
    LABELS,
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


def test_the_environment_names_the_folder(folder, monkeypatch):
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder))
    assert load("three").checksum == load("three", folder).checksum


def test_the_argument_goes_before_the_environment(folder, monkeypatch):
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(folder / "elsewhere"))
    assert load("three", folder).name == "three"


@pytest.mark.parametrize(
    "content",
    [
        TABLE.replace(b"\n", b"\r\n"),
        TABLE.replace(b"\n", b"\r"),
        TABLE[:-1],
        TABLE.replace(b"\n", b" \n\n"),
    ],
    ids=["CRLF", "CR", "no last line end", "blanks"],
)
def test_line_ends_and_blanks_do_not_matter(folder, content):
    expected = load("three", folder).checksum
    (folder / "three" / "three.csv").write_bytes(content)
    assert load("three", folder).checksum == expected


class TestWrongFile:
    """A file that is not the publisher's is never read."""

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (TABLE[:20], "it has 20 bytes instead of 30"),
            (b"", "it has 0 bytes instead of 30"),
            (TABLE.replace(b"0.5", b"0.6"), "its SHA-256 is [0-9a-f]{64}"),
            (TABLE + b"7,8,3.5\n", "its SHA-256 is"),
            (gzip.compress(TABLE), "it is compressed by gzip"),
            (IMAGES, "it is pictures/images"),
            (TABLE.decode().encode("utf-16"), "its SHA-256 is"),
            (b"<html>Not found</html>", "it has 22 bytes instead of 30"),
        ],
        ids=[
            "torn",
            "empty",
            "changed",
            "longer",
            "gzipped",
            "another",
            "re-encoded",
            "a web page",
        ],
    )
    def test_a_table(self, folder, content, message):
        (folder / "three" / "three.csv").write_bytes(content)
        with pytest.raises(
            ValueError,
            match=f"{folder}/three/three.csv is not the publisher's file: {message}.* "
            r"from https://publisher.example/three\.csv",
        ):
            load("three", folder)

    @pytest.mark.parametrize("name", ["three.csv", "three.csv.gz"])
    def test_it_is_never_decompressed(self, folder, catalogue, monkeypatch, name):
        def refuse(*arguments):
            pytest.fail("a file was decompressed before its checksum was right")

        entry = make_table_entry()
        (source,) = entry.sources
        (file,) = source.files
        file = dataclasses.replace(file, path=f"three/{name}", words=None)
        source = dataclasses.replace(source, files=(file,))
        catalogue(dataclasses.replace(entry, sources=(source,)))
        (folder / "three" / name).write_bytes(gzip.compress(TABLE))
        monkeypatch.setattr(gzip, "decompress", refuse)
        monkeypatch.setattr("keras_vaf.datasets.loading.decompress", refuse)
        with pytest.raises(ValueError, match="is not the publisher's file"):
            load("three", folder)

    def test_swapped_files(self, folder):
        (folder / "pictures" / "images").write_bytes(LABELS)
        (folder / "pictures" / "labels").write_bytes(IMAGES)
        with pytest.raises(ValueError, match=r"pictures/images .* is pictures/labels"):
            load("pictures", folder)

    def test_blanks_matter_in_images(self, folder):
        (folder / "pictures" / "images").write_bytes(IMAGES + b"\n")
        with pytest.raises(ValueError, match="pictures/images is not"):
            load("pictures", folder)


class TestMissingFile:
    def test_it_is_named_with_where_to_get_it(self, folder):
        (folder / "pictures" / "labels").unlink()
        with pytest.raises(
            FileNotFoundError,
            match=r"does not contain pictures/labels\. Get it from https://p.example/lab",
        ):
            load("pictures", folder)

    def test_a_file_of_another_name_is_listed(self, folder):
        (folder / "three" / "three.csv").rename(folder / "three" / "3.csv")
        with pytest.raises(FileNotFoundError, match=r"Received: 3\.csv in .*three$"):
            load("three", folder)

    def test_a_folder_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="Received: no file in"):
            load("three", tmp_path / "absent")


@pytest.mark.parametrize("size", [Size(4, 2), Size(3, 1)])
def test_sizes_are_checked(folder, catalogue, size):
    catalogue(dataclasses.replace(make_table_entry(), size=size))
    with pytest.raises(
        ValueError, match=f"three.csv: expected {size.rows} rows of {size.inputs} inp"
    ):
        load("three", folder)


class TestForms:
    """A dataset that comes in several forms."""

    def make(self, **options):
        entry = make_table_entry()
        (source,) = entry.sources
        other = dataclasses.replace(source, **options)
        return dataclasses.replace(entry, sources=(other, source))

    def test_the_first_form_at_hand_is_taken(self, folder, catalogue):
        file = dataclasses.replace(
            make_table_entry().sources[0].files[0], path="three/other.csv"
        )
        catalogue(self.make(files=(file,)))
        assert load("three", folder).source == "three/three.csv"
        (folder / "three" / "other.csv").write_bytes(TABLE)
        assert load("three", folder).source == "three/other.csv"

    def test_a_package_that_is_not_installed_is_passed_over(self, folder, catalogue):
        catalogue(self.make(files=(), package="no_such_package"))
        assert load("three", folder).source == "three/three.csv"

    def test_a_subset_says_so(self, folder, catalogue):
        entry = self.make(rows=3, note="a subset of 3 of the 9 rows")
        catalogue(dataclasses.replace(entry, size=Size(9, 2)))
        source = load("three", folder).source
        assert source == "three/three.csv (a subset of 3 of the 9 rows)"


@pytest.mark.parametrize("path", ["Table.CSV", "table.csv.gz", "table.xls"])
def test_a_table_needs_a_target(path):
    with pytest.raises(ValueError, match="--target COLUMN"):
        load(path)


def test_wine_comes_with_scikit_learn(monkeypatch, tmp_path):
    monkeypatch.undo()
    dataset = load("wine", tmp_path)
    expected = load_wine()
    assert dataset.source == "package sklearn"
    assert dataset.feature_names == tuple(expected.feature_names)
    np.testing.assert_array_equal(dataset.x, expected.data.astype("float32"))
    np.testing.assert_array_equal(dataset.y, expected.target)
