"""The rows of the folds that score a trial."""

import numpy as np
import pytest

from keras_vaf.training import k_folds
from keras_vaf.tuners.task import Task

pytestmark = pytest.mark.backend("jax")


def task(y):
    return Task(np.zeros((len(y), 1)), y, 1, None, None, None)


@pytest.mark.parametrize("rows", [12, 13, 14])
@pytest.mark.parametrize("stratify", [True, False])
def test_folds_are_of_equal_size_so_that_they_are_one_program(rows, stratify):
    y = np.arange(rows) % 2
    _, parts = task(y).split(3, 0, stratify)

    assert len({(len(rest), len(held)) for rest, held, _ in parts}) == 1
    folds = k_folds(y, 3, 0, stratify)
    for (rest, held, _), (every, held_out) in zip(parts, folds, strict=True):
        assert set(rest) <= set(every) and set(held) <= set(held_out)
        assert rows - len(rest) - len(held) == (rows % 3 > 0)


def test_another_seed_leaves_out_other_rows():
    y = np.arange(100) % 2
    left_out = {
        tuple(set(range(100)) - set(rest) - set(held))
        for seed in range(3)
        for rest, held, _ in task(y).split(3, seed, True)[1]
    }

    assert len(left_out) > 3
