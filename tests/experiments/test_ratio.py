"""Errors of several datasets are compared by the logarithms of their ratios."""

import math

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments.results.ratio import Ratio

pytestmark = pytest.mark.backend("tensorflow")


def test_mean_interval_and_p_value_are_those_of_the_logarithms():
    rng = np.random.default_rng(0)
    errors, reference = rng.uniform(0.1, 1, (2, 12))
    ratio = Ratio.of(errors, reference)
    logs = np.log(errors / reference)
    expected = stats.t.interval(0.9, 11, logs.mean(), stats.sem(logs))
    np.testing.assert_allclose(np.log(ratio.interval(0.9)), expected)
    assert ratio.mean == pytest.approx(stats.gmean(errors / reference))
    assert ratio.p == pytest.approx(stats.wilcoxon(logs).pvalue)


def test_the_units_of_a_dataset_do_not_matter():
    rng = np.random.default_rng(1)
    errors, reference = rng.uniform(0.1, 1, (2, 8))
    units = np.array([1000.0, *[1.0] * 7])
    one, other = (
        Ratio.of(errors, reference),
        Ratio.of(units * errors, units * reference),
    )
    assert one.p == other.p
    assert one.interval() == pytest.approx(other.interval())


def test_datasets_without_an_error_have_no_ratio():
    ratio = Ratio.of([0.0, 0.2, 0.0, 0.4], [0.1, 0.1, 0.0, 0.2])
    assert ratio.logs == pytest.approx([math.log(2)] * 2)
    none = Ratio.of([0.0], [0.0])
    assert math.isnan(none.mean) and none.p == 1


def test_one_dataset_has_no_interval():
    ratio = Ratio.of([0.3], [0.6])
    assert all(map(math.isnan, ratio.interval()))
    assert ratio.text() == "0.50"


def test_the_text_has_the_interval():
    logs = np.array([-0.1, 0.0, 0.1])
    half = stats.t(2).isf(0.025) * 0.1 / math.sqrt(3)
    ends = f"({math.exp(-half):.3f} to {math.exp(half):.3f})"
    assert Ratio(logs).text(3) == f"1.000 {ends}"
