"""The rows that are used: a number of them, and the publisher's test rows."""

import dataclasses

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Cell, Protocol, find_variants
from keras_vaf.experiments.runs.rows import rows_of

pytestmark = pytest.mark.backend("tensorflow")


def protocol_of(dataset, **fields):
    return Protocol.of(dataset, find_variants("relu")[0], folds=3, **fields)


def every_fold(protocol, dataset, seed=0):
    cells = [Cell(protocol, seed, fold) for fold in range(protocol.folds)]
    return [rows_of(cell, dataset) for cell in cells]


@pytest.mark.parametrize(
    ("task", "fields", "validation", "test"),
    [
        ("regression", {}, [4, 7, 8, 12, 14], [2, 3, 17, 19, 21]),
        ("classification", {}, [13, 16, 28, 31, 34], [0, 3, 4, 5, 8]),
        ("regression", {"rows": 25}, [5, 15, 27, 36], [6, 8, 20, 24, 25]),
        ("classification", {"rows": 25}, [2, 19, 21, 32], [1, 3, 4, 6, 12]),
        ("regression", {"test_rows": 9}, [0, 2, 5, 6, 12, 21], [28, 29, 30, 31, 32]),
        (
            "classification",
            {"test_fraction": 0.25},
            [7, 14, 20, 27, 29, 32],
            [10, 11, 15, 16, 17],
        ),
    ],
)
def test_rows_are_those_of_the_committed_reports(task, fields, validation, test):
    rows = np.arange(37)
    classes = task == "classification"
    y = rows % 2 if classes else rows.astype("float32")
    names = ("no", "yes") if classes else None
    dataset = Dataset("pinned", task, y[:, None].astype("float32"), y, ("a",), names)
    protocol = protocol_of(dataset, **fields)
    if "test_rows" in fields:
        protocol = dataclasses.replace(protocol, folds=1)

    found = rows_of(Cell(protocol, seed=1, fold=0), dataset)

    assert found.validation.tolist() == validation
    assert found.test[:5].tolist() == test
    assert not {*found.train} & {*found.validation, *found.test}


def test_a_number_of_rows_is_drawn_by_the_seed_and_not_by_the_fold(images):
    protocol = protocol_of(images, rows=45)

    used = [
        np.sort(np.concatenate(rows)) for rows in every_fold(protocol, images, seed=1)
    ]

    for rows in used:
        np.testing.assert_array_equal(rows, used[0])
    assert len(used[0]) == len(set(used[0])) == 45
    assert np.bincount(images.y[used[0]]).tolist() == [15, 15, 15]
    other = np.sort(np.concatenate(every_fold(protocol, images, seed=2)[0]))
    assert np.any(used[0] != other)


def test_more_rows_than_there_are_are_all_rows(images):
    for fold, expected in zip(
        every_fold(protocol_of(images, rows=1000), images),
        every_fold(protocol_of(images), images),
        strict=True,
    ):
        for rows, rows_expected in zip(fold, expected, strict=True):
            np.testing.assert_array_equal(rows, rows_expected)


def test_the_publishers_test_rows_are_the_last_ones(images):
    protocol = dataclasses.replace(protocol_of(images, test_rows=30), folds=1)

    for seed in (0, 1):
        [rows] = every_fold(protocol, images, seed)
        np.testing.assert_array_equal(rows.test, np.arange(60, 90))
        both = np.sort(np.concatenate([rows.train, rows.validation]))
        np.testing.assert_array_equal(both, np.arange(60))
        assert len(rows.validation) == 12


def test_of_the_publishers_division_the_same_share_of_both_parts_is_used(images):
    protocol = protocol_of(images, test_rows=30, rows=45)

    [rows] = every_fold(dataclasses.replace(protocol, folds=1), images)

    assert {name: len(part) for name, part in rows._asdict().items()} == {
        "train": 24,
        "validation": 6,
        "test": 15,
    }
    assert rows.test.min() >= 60
    assert max(rows.train.max(), rows.validation.max()) < 60


@pytest.mark.parametrize("fields", [{"test_rows": 30}, {"test_rows": 90, "folds": 1}])
def test_refuses_test_rows_that_leave_none_or_come_with_folds(images, fields):
    protocol = dataclasses.replace(protocol_of(images), **fields)

    with pytest.raises(ValueError, match=r"requires `folds=1`.* Received: test_rows="):
        rows_of(Cell(protocol, 0, 0), images)
