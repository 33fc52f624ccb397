"""The sentence on a comparison says what the corrected p-values say."""

import re

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments import corrected_p, holm, results_of, verdict
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

RELU = [0.7, 0.8, 0.9, 0.8]
NEAR = [0.75, 0.78, 0.9, 0.81]
BETTER = [0.9, 1.0, 1.1, 1.01]


def test_no_difference():
    reports = [*make_arm("relu", RELU), *make_arm("vaf-relu", NEAR)]
    assert verdict(reports) == (
        "VAF, ReLU start does not differ from ReLU beyond chance on these 4 folds "
        "(corrected p = 0.781)."
    )
    reports += make_arm("kaf", NEAR)
    assert verdict(reports).startswith("No activation differs from ReLU beyond chance")


def test_a_difference_has_direction_size_and_interval():
    reports = [*make_arm("relu", RELU), *make_arm("vaf-relu", BETTER)]
    assert verdict(reports).startswith(
        "Beyond chance on these 4 folds: VAF, ReLU start is better than ReLU (accuracy "
        "higher by 0.2025, 95% interval "
    )
    reports = [
        *make_arm("relu", RELU, "regression"),
        *make_arm("vaf-relu", BETTER, "regression"),
    ]
    said = verdict(reports)
    assert "VAF, ReLU start is worse than ReLU (RMSE higher by 0.2025" in said


def test_the_interval_covers_95_percent_of_the_corrected_t_distribution():
    reports = [*make_arm("relu", RELU), *make_arm("vaf-relu", BETTER)]
    gains = np.subtract(BETTER, RELU)
    scale = gains.std(ddof=1) * np.sqrt(1 / 4 + 20 / 20)  # 20 of 40 rows are tested
    expected = stats.t.interval(0.95, df=3, loc=gains.mean(), scale=scale)

    low, high = re.search(r"interval (\S+) to (\S+),", verdict(reports)).groups()

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


def test_too_little_for_a_test():
    assert "nothing to compare" in verdict(make_arm("relu", RELU))
    pair = [*make_arm("relu", [0.5]), *make_arm("vaf-relu", [0.6])]
    assert "use more folds" in verdict(pair)
