"""Tests of significance, against SciPy and values worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments import corrected_interval, corrected_t_test, holm

pytestmark = pytest.mark.backend("tensorflow")

DIFFERENCES = [0.02, -0.01, 0.03, 0.015, 0.0, 0.04, 0.01, 0.02, -0.005, 0.03]


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5])
def test_shared_rows_widen_the_interval_outside_of_which_p_is_small(fraction):
    mean, deviation = np.mean(DIFFERENCES), np.std(DIFFERENCES, ddof=1)
    error = deviation * math.sqrt(1 / 10 + fraction / (1 - fraction))

    p = corrected_t_test(DIFFERENCES, fraction)

    assert p == pytest.approx(2 * stats.t.sf(mean / error, df=9))
    if fraction == 0:
        assert p == pytest.approx(stats.ttest_1samp(DIFFERENCES, 0).pvalue)
    moved = np.asarray(DIFFERENCES) - mean + corrected_interval(DIFFERENCES, fraction)
    assert corrected_t_test(moved.tolist(), fraction) == pytest.approx(0.05)


def test_few_or_equal_differences_and_several_tests():
    assert corrected_t_test([0.1, 0.1, 0.1], 0.1) == 0
    assert corrected_t_test([0.0, 0.0, 0.0], 0.1) == 1
    with pytest.raises(ValueError, match=r"at least 2.*differences=1"):
        corrected_t_test([0.1], 0.1)
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
