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


@pytest.mark.parametrize(
    ("content", "separator"),
    [
        (b"1,2.5,x\n3,-4e1,y\n5,6,x\n", ","),
        (b"1;2.5;x\r\n3;-4e1;y\r\n5;6;x", ";"),
        (b"  1  2.5 x\n3\t-4e1 y\n\n5 6 x\n", None),
    ],
)
def test_rows_of_text_without_names(content, separator):
    assert read_text([content], separator, NAMES) == (NAMES, ROWS)


def test_arff_with_commas_or_blanks():
    header, rows = ARFF.split(b"@data")
    for content in (ARFF, header + b"@DATA" + rows.replace(b",", b" ")):
        assert read_arff([content]) == (NAMES, ROWS)


def test_the_first_sheet_of_a_workbook():
    table = read_workbook([make_xlsx([NAMES, (1, 2.5, "x"), (3.0, -40, "y")])])
    assert table == (NAMES, [["1", "2.5", "x"], ["3", "-40", "y"]])


def test_training_and_test_part_in_idx():
    images, labels = make_images(3, 4, 5), np.array([7, 0, 1], dtype=np.uint8)
    parts = [make_idx(images), make_idx(labels)]
    all_images, all_labels = read_idx([*parts, *parts])
    np.testing.assert_array_equal(all_images[..., 0], [*images, *images])
    np.testing.assert_array_equal(all_labels, [7, 0, 1, 7, 0, 1])


def test_the_archive_of_cifar():
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    image = make_images(1, 32, 32, 3)
    batches = {name: make_batch(image, [label]) for label, name in enumerate(names)}
    # In another order than that of the rows.
    archive = make_archive(dict(reversed(batches.items())))
    images, labels = read_cifar_archive([decompress(archive, "a.tar.gz")])
    np.testing.assert_array_equal(images, np.repeat(image, 6, axis=0))
    np.testing.assert_array_equal(labels, range(6))


@pytest.mark.parametrize(
    "names", ["__builtin__ print", "numpy.core.multiarray dtype", "numpy_other ndarray"]
)
def test_a_pickle_that_would_run_other_code_is_refused(capsys, names):
    module, name = names.split()
    content = f"c{module}\n{name}\n(S'a pickle runs code'\ntR.".encode()
    with pytest.raises(pickle.UnpicklingError, match=f"must not use {module}.{name}"):
        read_cifar_batches([content])
    assert capsys.readouterr().out == ""
