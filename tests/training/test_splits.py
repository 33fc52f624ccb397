"""The laws of folds and splits, and their seeds."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_vaf.training import fold_rows, split
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.splits import k_folds

pytestmark = pytest.mark.backend("tensorflow")

LABELS = st.lists(st.integers(0, 2), min_size=12, max_size=60)
SEEDS = st.integers(0, 2**32 - 1)


def check_partition(parts, rows):
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(rows))
    for part in parts:
        assert np.all(np.diff(part) > 0)


def check_shares(labels, part, share):
    """Check that a part has its share of every class, to within one row."""
    for label in np.unique(labels):
        expected = share * np.sum(labels == label)
        assert abs(np.sum(labels[part] == label) - expected) < 1 + 1e-9


@settings(max_examples=50, deadline=None)
@given(labels=LABELS, folds=st.integers(2, 3), seed=SEEDS, stratify=st.booleans())
def test_folds_are_a_partition_of_equal_parts(labels, folds, seed, stratify):
    labels = np.array(labels)
    parts = k_folds(labels, folds, seed, stratify)
    check_partition([test for _, test in parts], len(labels))
    for rest, test in parts:
        check_partition([rest, test], len(labels))
        check_shares(labels if stratify else 0 * labels, test, 1 / folds)


@settings(max_examples=50, deadline=None)
@given(labels=LABELS, fraction=st.floats(0.3, 0.6), seed=SEEDS)
def test_a_split_is_a_stratified_partition(labels, fraction, seed):
    labels = np.array(labels)
    _, validation = parts = split(labels / 7, fraction, seed, stratify=False)
    check_partition(parts, len(labels))
    assert len(validation) == np.ceil(fraction * len(labels))
    training, validation = split(labels, fraction, seed)
    check_partition([training, validation], len(labels))
    shared = np.sum(np.bincount(labels)[labels] > 1)
    check_shares(labels, validation, len(validation) / shared)
    assert set(labels[validation]) <= set(labels[training])


def test_small_classes_are_spread_without_a_warning():
    labels = np.repeat([0, 1, 2], [30, 2, 1])
    parts = k_folds(labels, 10)
    for label, rows in ((1, 2), (2, 1)):
        counts = sorted(np.sum(labels[test] == label) for _, test in parts)
        assert counts == [0] * (10 - rows) + [1] * rows


def digest(parts):
    rows = np.concatenate([rows for part in parts for rows in (*part, [-1])])
    return hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest()[:16]


def test_seeded_folds_and_splits_are_pinned():
    labels = np.repeat([0, 1, 2], [59, 71, 48])
    assert digest(k_folds(labels, 10, seed=0)) == "2267546836cca0cf"
    assert digest(k_folds(labels, 10, 0, stratify=False)) == "e77529e39107d03e"
    assert digest([split(labels, 0.2, seed=0)]) == "dd1cecc29842ce81"


@pytest.mark.parametrize("stratify", [True, False])
@pytest.mark.parametrize("validation_fraction", [0.2, None])
@pytest.mark.parametrize("rows", [60, 61, 64])
def test_fold_rows_are_disjoint_and_equally_many(rows, validation_fraction, stratify):
    y = np.arange(rows) % 3
    folds = fold_rows(y, 5, 0, stratify, validation_fraction)
    assert len({(len(training), len(held)) for training, held, _ in folds}) == 1
    for fold, (rest, held_out) in zip(folds, k_folds(y, 5, 0, stratify), strict=True):
        training, validation, test = fold
        assert {*training} <= {*rest}
        if validation_fraction is None:
            assert {*validation} == {*test} <= {*held_out}
        else:
            assert {*validation} <= {*rest} - {*training}
            np.testing.assert_array_equal(test, held_out)
        left_out = rows - len({*training, *validation, *test})
        assert left_out in ((0,) if rows % 5 == 0 else (0, 1, 2))


@pytest.mark.parametrize("stratify", [True, False])
def test_no_two_folds_of_any_seeds_divide_their_rows_alike(stratify):
    y = np.arange(60) % 2
    divisions = []
    for seed in range(4):
        for training, validation, _ in fold_rows(y, 4, seed, stratify):
            rest = np.sort(np.concatenate([training, validation]))
            divisions.append(tuple(np.searchsorted(rest, validation)))
    assert len(set(divisions)) == len(divisions) == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, "must be an integer of at least 2. Received: folds=1"),
        ({"folds": 7}, "7 folds need at least 7 rows in the largest class: use fewer"),
        ({"folds": 9, "stratify": False}, "Received: folds=9, 7 rows"),
        ({"y": [[0, 1], [1, 0]]}, r"`stratify=False` for regression. Received: .*, 2"),
        ({"y": [0.5, 1.5, 2.5]}, "one class label per row.* dtype float64"),
        ({"y": []}, "0 rows in the largest class"),
        ({"validation_fraction": 0.9, "folds": 2}, "fewer folds.*`--task reg"),
    ],
)
def test_rows_that_cannot_be_divided(arguments, message):
    with pytest.raises(ValueError, match=message):
        fold_rows(**{"y": [0, 0, 0, 0, 1, 1, 1], **arguments})


@settings(max_examples=50, deadline=None)
@given(labels=LABELS, left_out=st.integers(0, 2), seed=SEEDS)
def test_a_split_of_so_many_rows_is_as_large_for_any_labels(labels, left_out, seed):
    labels = np.array(labels)
    rows = len(labels) - left_out
    training, validation = split(labels, 0.4, seed, rows=rows)
    assert len(validation) == np.ceil(0.4 * rows)
    assert len(training) + len(validation) == rows
    assert len({*training, *validation}) == rows


def test_seeds_differ_for_every_sequence_of_keys():
    keys = [(0, 1), (1, 0), (0, "1"), (0, 1, "split"), (0, 1, "shuffling")]
    assert len({independent_seeds(*each)[0] for each in keys}) == len(keys)
    assert len(set(independent_seeds(0, count=9))) == 9
