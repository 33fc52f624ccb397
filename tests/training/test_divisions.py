"""Groups stay together, and a test is later than its training."""

import numpy as np
import pytest

from keras_vaf.training import fold_rows

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def groups():
    return np.repeat(np.arange(20), np.random.default_rng(0).integers(2, 9, 20))


@pytest.mark.parametrize("stratify", [True, False])
@pytest.mark.parametrize("fraction", [0.2, None])
def test_no_group_is_in_two_parts_of_a_fold(groups, stratify, fraction):
    y = np.random.default_rng(1).integers(0, 2, len(groups))
    rows = fold_rows(y, 4, 7, stratify, fraction, groups=groups)
    for training, validation, test in rows:
        assert not {*groups[training]} & {*groups[validation], *groups[test]}
        if fraction is not None:
            assert not {*groups[validation]} & {*groups[test]}
    assert len({(len(t), len(v)) for t, v, _ in rows}) == 1
    if fraction is not None:
        tested = np.concatenate([test for *_, test in rows])
        assert sorted(tested) == list(range(len(groups)))


def test_groups_of_another_seed_are_divided_in_another_way(groups):
    one, same, other = (
        fold_rows(groups % 2, 4, seed, groups=groups)[0][2] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert set(one) != set(other)


def test_too_few_groups_are_refused(groups):
    with pytest.raises(ValueError, match=r"use fewer folds.*=21, .*, 20 groups"):
        fold_rows(groups % 2, 21, groups=groups)
    three = np.arange(30) % 3
    with pytest.raises(ValueError, match=r"as many folds as groups\..*=2, 3 groups"):
        fold_rows(np.arange(30), 2, 0, False, groups=three)
    assert len(fold_rows(np.arange(30), 3, 0, False, groups=three)) == 3


@pytest.mark.parametrize("fraction", [0.25, None])
@pytest.mark.parametrize("different", [12, 40, None])
def test_the_test_rows_are_the_latest_of_a_fold(fraction, different):
    """Rows of equal times are in one part; without them, each later row is tested."""
    rng = np.random.default_rng(different)
    times = rng.integers(0, different, 203) if different else rng.permutation(101)
    folds = 3 if different else 5
    rows = fold_rows(times * 0, folds, validation_fraction=fraction, times=times)
    for training, validation, test in rows:
        assert times[training].max() < times[validation].min()
        if fraction is not None:
            assert times[validation].max() < times[test].min()
        if different is None:
            before = times[np.append(training, validation)]  # without a gap
            assert np.ptp(before) + 1 == len(before) == (50 if fraction else 60)
            assert fraction is None or before.max() + 1 == times[test].min()
    assert len({(len(part[0]), len(part[1])) for part in rows}) == 1
    tested = np.concatenate([test for *_, test in rows])
    assert len({*tested}) == len(tested)
    if different is None:
        assert sorted(times[tested]) == list(range(51, 101))


HALF = {"groups": np.arange(40) // 2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": np.arange(40) // 4, "validation_fraction": 0}, "above 0 and below"),
        ({"times": np.arange(40), "validation_fraction": 0}, "above 0 and below 1"),
        ({"times": np.arange(60)}, r"`times` must .* Received: \(60,\) for 40 rows"),
        ({"groups": np.arange(60)}, "`groups` must have one entry per row"),
        ({"times": [np.nan, *range(39)]}, "no missing one"),
        ({"groups": [None, *range(39)]}, "no `None`"),
        ({"times": [*map(str, range(40))]}, "no text"),  # "10" is before "2"
        ({"times": np.arange(40), "groups": np.arange(40)}, "Received: both"),
        ({"seed": -1}, "`seed` must be an integer of at least 0"),
        (HALF | {"validation_fraction": 0.8}, "at most 0.5. Received: folds=1"),
        (HALF | {"y": np.arange(40)}, "use fewer folds.* 1 rows .*, 20 groups"),
        (HALF | {"y": np.linspace(0, 1, 40)}, "use `stratify=False`"),
        ({"y": [], "times": []}, r"`times` must .* Received: \(0,\) for 0 rows"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        fold_rows(**{"y": np.arange(40) % 2, "folds": 4} | arguments)


def test_groups_of_a_rare_class_are_divided_without_a_warning():
    assert len(fold_rows([0] * 38 + [1] * 2, 3, **HALF)) == 3


def test_too_few_rows_for_folds_in_time_are_refused():
    with pytest.raises(ValueError, match="5 folds by time need at least 10 rows"):
        fold_rows([0, 1, 0], 5, times=[1, 2, 3])
    with pytest.raises(ValueError, match="Received: folds=4, 40 rows, 2 different"):
        fold_rows([0] * 40, 4, times=[1, 2] * 20)
