"""Each reader reads three rows in its publisher's format."""

import pickle

import numpy as np
import pytest

from keras_vaf.datasets.parsers import (
    decompress,
    read_arff,
    read_cifar_archive,
    read_cifar_batches,
    read_idx,
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
        assert read_text([content], separator, NAMES) == (NAMES, ROWS)


class TestARFF:
    def test_commas_and_comments(self):
        assert read_arff([ARFF]) == (NAMES, ROWS)

    def test_blanks_instead_of_commas(self):
        header, rows = ARFF.split(b"@data")
        content = header + b"@DATA" + rows.replace(b",", b" ")
        assert read_arff([content]) == (NAMES, ROWS)


class TestWorkbook:
    CELLS = ((1, 2.5, "x"), (3.0, -40, "y"), (5, 6, "x"))

    def test_the_first_sheet_of_xlsx(self):
        table = read_workbook([make_xlsx([NAMES, *self.CELLS])])
        assert table.names == NAMES
        assert table.rows == [["1", "2.5", "x"], ["3", "-40", "y"], ["5", "6", "x"]]


def test_training_and_test_part_in_idx():
    images, labels = make_images(3, 4, 5), np.array([7, 0, 1], dtype=np.uint8)
    parts = [make_idx(images), make_idx(labels)]
    all_images, all_labels = read_idx([*parts, *parts])
    assert all_images.shape == (6, 4, 5, 1)
    np.testing.assert_array_equal(all_images[:3, ..., 0], images)
    np.testing.assert_array_equal(all_images[3:, ..., 0], images)
    np.testing.assert_array_equal(all_labels, [7, 0, 1, 7, 0, 1])


class Runs:
    """An object that calls a function when it is unpickled without care."""

    def __reduce__(self):
        return print, ("a pickle runs code",)


class TestCIFAR:
    IMAGES = make_images(3, 32, 32, 3)

    def test_the_publishers_archive(self):
        names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
        batches = {
            name: make_batch(self.IMAGES[:1], [label])
            for label, name in enumerate(names)
        }
        # In another order than that of the rows.
        archive = make_archive(dict(reversed(batches.items())))
        images, labels = read_cifar_archive([decompress(archive, "a.tar.gz")])
        assert images.shape == (6, 32, 32, 3)
        np.testing.assert_array_equal(labels, range(6))

    def test_a_pickle_that_would_run_code_is_refused(self, capsys):
        content = pickle.dumps(Runs(), protocol=2)
        with pytest.raises(pickle.UnpicklingError, match=r"__builtin__\.print"):
            read_cifar_batches([content])
        assert capsys.readouterr().out == ""
