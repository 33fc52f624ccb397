"""The sentence on a difference says what the corrected test says."""

import re

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments import corrected_p, holm, results_of
from keras_vaf.experiments.results.differences import difference
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

RELU = [0.7, 0.8, 0.9, 0.8]
NEAR = [0.75, 0.78, 0.9, 0.81]
BETTER = [0.9, 1.0, 1.1, 1.01]


def said_of(scores, task="classification"):
    """Return the sentence on the difference between two activations."""
    reports = [*make_arm("relu", RELU, task), *make_arm("vaf-relu", scores, task)]
    results = results_of(reports)
    return difference(results[1], corrected_p(results)[1])


def test_a_difference_has_direction_size_and_interval():
    said = said_of(BETTER)
    assert said.startswith("better than ReLU (accuracy higher by 0.2025, 95% interval ")
    assert "worse than ReLU (RMSE higher by 0.2025" in said_of(BETTER, "regression")


def test_the_interval_covers_95_percent_of_the_corrected_t_distribution():
    gains = np.subtract(BETTER, RELU)
    scale = gains.std(ddof=1) * np.sqrt(1 / 4 + 20 / 20)  # 20 of 40 rows are tested
    expected = stats.t.interval(0.95, df=3, loc=gains.mean(), scale=scale)

    low, high = re.search(r"interval (\S+) to (\S+),", said_of(BETTER)).groups()

    assert [float(low), float(high)] == pytest.approx(expected, rel=0.01)


def test_p_values_are_corrected_for_the_number_of_activations():
    reports = [
        *make_arm("relu", RELU),
        *make_arm("vaf-relu", NEAR),
        *make_arm("kaf", BETTER),
    ]
    results = results_of(reports)
    none, *corrected = corrected_p(results)
    assert none is None
    assert corrected == holm([result.p for result in results[1:]])
