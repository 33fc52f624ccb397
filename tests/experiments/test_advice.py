"""The advice names what is best, says how sure it is, and names what to try next."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from keras_vaf.experiments import comparison_table
from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.protocol import Architecture
from keras_vaf.experiments.runs.references import TREES
from keras_vaf.experiments.variants import Variant
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

RELU = [76_000.0, 75_000.0, 74_000.0, 75_400.0]
NEAR = [76_100.0, 74_000.0, 74_500.0, 75_300.0]
FAR = [70_000.0, 69_100.0, 68_000.0, 69_500.0]


def arm(name, scores):
    reports = make_arm(name, scores, "regression")
    for report in reports:
        report.baseline["rmse"] = 90_000.0
    return reports


def trees(scores):
    fields = {"architecture": Architecture("trees"), "hidden": ()}
    return arm_of(Variant("trees", TREES, ""), scores, fields)


def arm_of(variant, scores, fields):
    reports = make_arm(variant, scores, "regression", protocol=fields)
    for report in reports:
        report.baseline["rmse"] = 90_000.0
    return reports


def test_where_nothing_differs_it_is_the_cheapest_and_the_detectable_gain_is_named():
    said = advice([*arm("relu", RELU), *arm("vaf-relu", NEAR)])

    gains = np.subtract(RELU, NEAR)
    error = gains.std(ddof=1) * math.sqrt(1 / 4 + 20 / 20)  # 20 of 40 rows are tested
    detectable = f"{stats.t(3).isf(0.025) * error:,.0f}"
    assert said == (
        "Use ReLU: no activation is better than ReLU beyond chance on these 4 folds, "
        f"which would have shown a gain of about {detectable}, and it is the cheapest. "
        "To find smaller differences, add seeds: `--seeds 0,1,2`."
    )


def test_more_tests_need_a_larger_gain():
    two = advice([*arm("relu", RELU), *arm("vaf-relu", NEAR)])
    many = advice([*arm("relu", RELU), *arm("vaf-relu", NEAR), *arm("silu", NEAR)])

    def gain(said):
        return int(re.search(r"about ([\d,]+)", said)[1].replace(",", ""))

    assert gain(many) > gain(two)


@pytest.mark.parametrize(
    ("name", "title", "next_"),
    [
        ("vaf-relu", "VAF, ReLU start", "Next, try a larger k: `--k 5`."),
        ("silu", "SiLU", "Next, try a wider network: `--hidden 200,100`."),
    ],
)
def test_a_difference_beyond_chance_is_named_with_its_interval(name, title, next_):
    said = advice([*arm("relu", RELU), *arm(name, FAR)])

    start = f"Use {title}: it is better than ReLU (RMSE lower by 5,950, 95% interval "
    assert said.startswith(start)
    assert said.endswith(f"). {next_}")


def test_a_better_reference_is_named_first():
    said = advice([*arm("relu", RELU), *arm("vaf-relu", NEAR), *trees(FAR)])

    assert said.startswith(
        "Try gradient boosted trees first: RMSE 69,150, and 75,100 with the network "
        "(95% interval of the gain "
    )
    assert ". Among the networks, use ReLU: no activation is better" in said


def test_the_interval_of_a_reference_covers_95_percent():
    said = advice([*arm("relu", RELU), *trees(FAR)])
    gains = np.subtract(RELU, FAR)
    scale = gains.std(ddof=1) * np.sqrt(1 / 4 + 20 / 20)  # 20 of 40 rows are tested
    expected = stats.t.interval(0.95, df=3, loc=gains.mean(), scale=scale)

    ends = re.search(r"interval of the gain (\S+) to (\S+)\)", said).groups()

    found = [float(end.replace(",", "")) for end in ends]
    assert found == pytest.approx(expected, abs=1)


def test_a_worse_reference_is_not_named():
    assert advice([*arm("relu", FAR), *trees(RELU)]).startswith("Use ReLU")


def test_data_that_predict_nothing_are_named():
    said = advice(arm("relu", [95_000.0, 96_000.0]))
    assert said.startswith("No model predicts the target better than a constant (")
    assert "RMSE 90,000" in said


def test_references_are_lines_of_the_table_without_tests():
    reports = [*arm("relu", RELU), *arm("vaf-relu", NEAR), *trees(FAR)]
    with_trees, without = comparison_table(reports), comparison_table(reports[:-4])
    [line] = [line for line in with_trees.lines if line[0] == TREES]
    cells = dict(zip(with_trees.columns, line, strict=True))
    assert cells["mean"] == "69,150"
    assert cells["p"] == cells["gain"] == cells["parameters"] == ""
    assert [line for line in with_trees.lines if line != line] == []
    assert set(without.lines) == {*with_trees.lines} - {line}
