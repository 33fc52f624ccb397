"""Means that are equal but for rounding are a tie, in every count and sentence."""

import pytest

from keras_vaf.experiments import comparison_table, results_of
from keras_vaf.experiments.results.table import direction_cells
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

# Both have the mean 0.3; the rounded mean of the gains is 2e-17.
RELU, VAF = [0.3, 0.3, 0.3, 0.3], [0.1, 0.2, 0.4, 0.5]


@pytest.fixture
def tie():
    return results_of([*make_arm("relu", RELU), *make_arm("vaf-relu", VAF)])[1]


def test_a_gain_by_rounding_alone_is_no_gain(tie):
    assert tie.gains != (0.0,) * 4
    assert (tie.gain, tie.direction) == (0.0, "equal")
    assert direction_cells(tie, 1.0)["direction"] == "(equal)"
    reports = [*tie.reference.reports, *tie.selected.reports]
    assert "+0.0000 ± " in comparison_table(reports).markdown


def test_a_smallest_real_gain_stays_one():
    better = [0.1, 0.2, 0.4, 0.5001]
    result = results_of([*make_arm("relu", RELU), *make_arm("vaf-relu", better)])[1]
    assert result.direction == "better"
    assert result.gain == pytest.approx(0.0001 / 4)
