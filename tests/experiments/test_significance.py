"""Tests of significance, against SciPy and values worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments import corrected_interval, corrected_t_test, holm

pytestmark = pytest.mark.backend("tensorflow")

DIFFERENCES = [0.02, -0.01, 0.03, 0.015, 0.0, 0.04, 0.01, 0.02, -0.005, 0.03]


def test_without_shared_rows_it_is_the_plain_t_test():
    plain = stats.ttest_1samp(DIFFERENCES, 0).pvalue

    assert corrected_t_test(DIFFERENCES, test_fraction=0) == pytest.approx(plain)


def test_shared_rows_widen_the_interval():
    mean, deviation = np.mean(DIFFERENCES), np.std(DIFFERENCES, ddof=1)
    t = mean / (deviation * math.sqrt(1 / 10 + 1 / 9))

    p = corrected_t_test(DIFFERENCES, test_fraction=0.1)

    assert p == pytest.approx(2 * (1 - stats.t.cdf(t, df=9)))


def test_the_interval_ends_where_the_p_value_is_the_rest():
    half = corrected_interval(DIFFERENCES, test_fraction=0.1)
    moved = np.asarray(DIFFERENCES) - np.mean(DIFFERENCES) + half

    assert corrected_t_test(moved.tolist(), 0.1) == pytest.approx(0.05)


def test_few_or_equal_differences():
    assert corrected_t_test([0.1, 0.1, 0.1], 0.1) == 0
    assert corrected_t_test([0.0, 0.0, 0.0], 0.1) == 1
    with pytest.raises(ValueError, match=r"at least 2.*differences=1"):
        corrected_t_test([0.1], 0.1)


def test_several_tests_are_corrected_together():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
