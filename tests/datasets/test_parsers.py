"""Each reader reads three rows in its publisher's format, and says what it cannot."""

import gzip
import lzma
import pickle
import sys

import numpy as np
import pytest

from keras_vaf.datasets.parsers import (
    decompress,
    join_tables,
    read_arff,
    read_cifar_archive,
    read_cifar_batches,
    read_idx,
    read_idx_parts,
    read_text,
    read_workbook,
)
from tests.datasets.publishers import (
    ARFF,
    ROWS,
    make_archive,
    make_batch,
    make_idx,
    make_images,
    make_xls,
    make_xlsx,
)

pytestmark = pytest.mark.backend("tensorflow")

NAMES = ("a", "b", "the class")


class TestText:
    @pytest.mark.parametrize(
        ("content", "separator"),
        [
            (b"1,2.5,x\n3,-4e1,y\n5,6,x\n", ","),
            (b"1;2.5;x\r\n3;-4e1;y\r\n5;6;x", ";"),
            (b"  1  2.5 x\n3\t-4e1 y\n\n5 6 x\n", None),
        ],
    )
    def test_rows_without_names(self, content, separator):
        table = read_text(content, "three", separator, NAMES)
        assert table.names == NAMES
        assert table.rows == ROWS

    def test_names_in_the_first_line(self):
        table = read_text(b"Study  Run\n 1   2\n", "two")
        assert (table.names, table.rows) == (("Study", "Run"), [["1", "2"]])

    def test_lines_are_counted_with_empty_ones(self):
        assert read_text(b"\na\n\n1\n\n\n2\n", "two").lines == [4, 7]

    def test_files_are_joined(self):
        tables = [read_text(b"a\n1\n", "one"), read_text(b"a\n2\n3\n", "two")]
        table = join_tables(tables)
        assert table.rows == [["1"], ["2"], ["3"]]
        assert table.file == "one and two"


class TestARFF:
    def test_commas_and_comments(self):
        table = read_arff(ARFF, "three.arff")
        assert table.names == NAMES
        assert table.rows == ROWS
        assert table.lines == [8, 9, 12]

    def test_line_ends_do_not_matter(self):
        content = ARFF.replace(b"\n", b"\r\n")
        assert read_arff(content, "three.arff").rows == ROWS

    def test_blanks_instead_of_commas(self):
        header, rows = ARFF.split(b"@data")
        content = header + b"@DATA" + rows.replace(b",", b" ")
        assert read_arff(content, "three.arff").rows == ROWS

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "line 1: expected an ARFF file"),
            (b"a,b\n1,2\n", "line 1: expected an ARFF file"),
            (b"@relation r\n@attribute a\n@data\n1\n", "line 2: .* a type"),
            (b"@attribute a real\n@data\n", "line 1: expected at least one row"),
            (b"@attribute a real\n@data\n1\n1,2\n", "line 4: expected 1 values"),
            (b"@attribute a real\n@attribute a real\n@data\n1,2", "names must differ"),
        ],
    )
    def test_other_files_are_refused(self, content, message):
        with pytest.raises(ValueError, match=f"^three.arff, .*{message}"):
            read_arff(content, "three.arff")


class TestWorkbook:
    CELLS = ((1, 2.5, "x"), (3.0, -40, "y"), (5, 6, "x"))

    def test_the_first_sheet_of_xlsx(self):
        content = make_xlsx([NAMES, *self.CELLS])
        table = read_workbook(content, "three.xlsx")
        assert table.names == NAMES
        assert table.rows == [["1", "2.5", "x"], ["3", "-40", "y"], ["5", "6", "x"]]
        assert table.lines == [2, 3, 4]

    def test_part_of_a_sheet_of_xls(self):
        # As in CTG.xls: a row above the names, columns on the left whose names
        # repeat, one without a name, and sums below an empty row.
        rows = [
            [None, None, "1", "2", "3", "4"],
            ["a", "b", "a", "b", None, "the class"],
            *([9, 9, first, second, None, last] for first, second, last in self.CELLS),
            [],
            [None, 4, None, None, None, 99],
        ]
        table = read_workbook(
            make_xls(rows, sheet="Data"),
            "three.xls",
            sheet="Data",
            first_row=2,
            first_column=3,
            names=("the class", "a"),
        )
        assert table.rows == [["x", "1"], ["y", "3"], ["x", "5"]]
        assert table.lines == [3, 4, 5]

    @pytest.mark.parametrize(
        ("content", "options", "message"),
        [
            (b"a,b\n1,2\n", {}, "line 1: expected a workbook"),
            (b"", {}, "line 1: expected a workbook"),
            (make_xlsx([["a"], [1]])[:-200], {}, "line 1: expected a workbook"),
            (make_xls([["a"], [1]], "Data")[:900], {}, "line 1: expected a workbook"),
            (make_xlsx([["a"]]), {"sheet": "Data"}, "line 1: expected a workbook"),
            (make_xlsx([["a"]]), {"first_row": 3}, "line 3: expected the names"),
            (make_xlsx([["a"]]), {"names": ("b",)}, r"columns \['b'\]. Received: \['a"),
            (make_xlsx([["a"]]), {}, "line 1: expected at least one row"),
        ],
    )
    def test_other_files_are_refused(self, content, options, message):
        with pytest.raises(ValueError, match=message):
            read_workbook(content, "three.xls", **options)

    @pytest.mark.parametrize("content", [make_xlsx([["a"]]), make_xls([["a"]], "Data")])
    def test_without_its_package_the_line_that_installs_it_is_named(
        self, content, monkeypatch
    ):
        for package in ("openpyxl", "xlrd"):
            monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=r"pip install 'keras-vaf\[data\]'"):
            read_workbook(content, "three.xls")


class TestIDX:
    IMAGES = make_images(3, 4, 5)
    LABELS = np.array([7, 0, 1], dtype=np.uint8)

    def test_an_array(self):
        np.testing.assert_array_equal(read_idx(make_idx(self.IMAGES), "i"), self.IMAGES)

    def test_training_and_test_part(self):
        parts = [(make_idx(self.IMAGES), "i"), (make_idx(self.LABELS), "l")]
        images, labels = read_idx_parts([*parts, *parts])
        assert images.shape == (6, 4, 5, 1)
        np.testing.assert_array_equal(images[:3, ..., 0], self.IMAGES)
        np.testing.assert_array_equal(labels, [7, 0, 1, 7, 0, 1])

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "header: expected an IDX file.*an empty file"),
            (b"\x1f\x8b\x08\x00", "header: expected an IDX file.*1f 8b 08 00"),
            (bytes([0, 0, 8, 3, 0, 0]), "header: expected 3 sizes. Received: 6 bytes"),
            (make_idx(IMAGES)[:-1], "expected 60 values .* Received: 59"),
            (make_idx(IMAGES) + b"0", "expected 60 values .* Received: 61"),
            (bytes([0, 0, 8, 2]) + b"\xff" * 8, "expected 18446744065119617025 values"),
        ],
    )
    def test_other_files_are_refused(self, content, message):
        with pytest.raises(ValueError, match=f"^images(:|, ).*{message}"):
            read_idx(content, "images")

    def test_labels_in_the_place_of_images_are_refused(self):
        labels = make_idx(self.LABELS)
        with pytest.raises(ValueError, match=r"first: expected 3 axes.*\(3,\)"):
            read_idx_parts([(labels, "first"), (labels, "second")])

    def test_a_label_for_each_image(self):
        parts = [(make_idx(self.IMAGES), "i"), (make_idx(self.LABELS[:2]), "l")]
        with pytest.raises(
            ValueError, match=r"l: .* of the 3 images of i. Received: 2"
        ):
            read_idx_parts(parts)


class Runs:
    """Unpickled without care, it would call a function."""

    def __reduce__(self):
        return print, ("a pickle runs code",)


class TestCIFAR:
    IMAGES = make_images(3, 32, 32, 3)
    BATCH = make_batch(IMAGES, [9, 0, 4])

    def test_batches_one_after_the_other(self):
        images, labels = read_cifar_batches([(self.BATCH, "1"), (self.BATCH, "2")])
        np.testing.assert_array_equal(images[:3], self.IMAGES)
        np.testing.assert_array_equal(images[3:], self.IMAGES)
        np.testing.assert_array_equal(labels, [9, 0, 4, 9, 0, 4])

    def test_the_publishers_archive(self):
        names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
        batches = {
            name: make_batch(self.IMAGES[:1], [label])
            for label, name in enumerate(names)
        }
        # In another order than that of the rows.
        archive = make_archive(dict(reversed(batches.items())))
        images, labels = read_cifar_archive([(decompress(archive, "a.tar.gz"), "a")])
        assert images.shape == (6, 32, 32, 3)
        np.testing.assert_array_equal(labels, range(6))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "EOFError"),
            (BATCH[:-40], "expected a batch of CIFAR-10"),
            (pickle.dumps([1]), "TypeError"),
            (pickle.dumps({b"labels": [1]}, protocol=2), "asks for _codecs.encode"),
            (make_batch(IMAGES.astype("float32"), [1, 2, 3]), "of bytes.*float32"),
            (make_batch(IMAGES, [1, 2]), r"with a label.*\(2,\)"),
            (make_batch(IMAGES, [1, 2, 10]), "labels from 0 to 9.*10"),
            (make_batch(IMAGES, [1, 2, 0.5]), "labels from 0 to 9"),
        ],
    )
    def test_other_files_are_refused(self, content, message):
        with pytest.raises(ValueError, match=f"^batch: .*{message}"):
            read_cifar_batches([(content, "batch")])

    def test_a_pickle_that_would_run_code_is_refused(self, capsys):
        with pytest.raises(ValueError, match=r"it asks for __builtin__\.print"):
            read_cifar_batches([(pickle.dumps(Runs(), protocol=2), "batch")])
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize(
        "content", [b"", b"no archive", decompress(make_archive({}), "a.gz")]
    )
    def test_other_archives_are_refused(self, content):
        with pytest.raises(ValueError, match=r"^a: expected an archive"):
            read_cifar_archive([(content, "a")])


class TestCompression:
    @pytest.mark.parametrize(
        ("content", "file"),
        [
            (b"1,2", "a.csv"),
            (gzip.compress(b"1,2"), "a.csv.gz"),
            (lzma.compress(b"1,2"), "data_batch_1.xz"),
        ],
    )
    def test_the_suffix_says_how(self, content, file):
        assert decompress(content, file) == b"1,2"

    @pytest.mark.parametrize(
        ("content", "file"),
        [
            (b"1,2", "a.gz"),
            (b"1,2", "a.xz"),
            (gzip.compress(b"1,2" * 99)[:-9], "a.gz"),
            (lzma.compress(b"1,2" * 99)[:-9], "a.xz"),
            (gzip.compress(b"1,2", compresslevel=0).replace(b"1,2", b"1,3"), "a.gz"),
        ],
    )
    def test_torn_files_are_refused(self, content, file):
        with pytest.raises(ValueError, match=f"^{file}: expected a whole"):
            decompress(content, file)
