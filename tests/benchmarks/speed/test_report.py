"""Tables show the results, and compare them with the aims."""

import dataclasses
import json
from pathlib import Path

import pytest

from benchmarks.speed.aims import AIMS
from benchmarks.speed.cases import PRELU, RELU, TANH, vaf
from benchmarks.speed.picture import draw
from benchmarks.speed.report import markdown

pytestmark = pytest.mark.backend("tensorflow")

REPORTS = Path(__file__).parents[3] / "docs/reports/benchmarks"


def result(activation, study="operation", mode="jax", **values):
    fields = {"study": study, "mode": mode, "shape": [8]}
    return {**fields, "activation": dataclasses.asdict(activation), "values": values}


def document(*results):
    return {"environment": {"cores": "2"}, "results": list(results)}


def row(page, start):
    (line,) = (line for line in page.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_ratio_is_the_median_of_those_within_repetitions():
    page = markdown(
        document(
            result(RELU, forward_backward=[1.0, 2.0, 10.0]),
            result(vaf(), forward_backward=[1.2, 2.6, 10.0]),
        )
    )
    # 1.2, 1.3 and 1.0 times ReLU; the ratio of the medians would be 1.3.
    what = "forward+backward, to ReLU, without kernels"
    assert row(page, what)[:3] == [what, "<= 2.70", "1.20"]
    assert row(page, vaf().label)[1] == "2600.0 (1.20)"


def test_a_missed_aim_is_said():
    page = markdown(
        document(
            result(PRELU, mode="torch", forward_backward=[0.010]),
            result(vaf(), mode="torch", forward_backward=[0.018]),
        )
    )
    (floor,) = (aim.what for aim in AIMS if "PReLU" in aim.what)
    assert row(page, floor)[5] == "**1.80** (missed)"


def test_an_aim_may_be_a_difference():
    page = markdown(
        document(
            result(RELU, study="compile", mode="tensorflow", compile=[1.0]),
            result(vaf(), study="compile", mode="tensorflow", compile=[2.5]),
        )
    )
    what = "cnet_B, first call, seconds more than ReLU, without kernels"
    assert row(page, what)[4] == "1.50"


def test_an_activation_is_compared_with_the_reference_of_its_study():
    page = markdown(
        document(
            result(RELU, forward_backward=[1.0]),
            result(RELU, study="smooth", forward_backward=[2.0]),
            result(TANH, study="smooth", forward_backward=[3.0]),
        )
    )
    assert row(page, "tanh")[1] == "3000.0 (1.50)"


def test_an_error_is_the_largest_and_stands_by_itself():
    name = "error at 1e+06 elements"
    page = markdown(document(result(vaf(), study="accuracy", **{name: [2e-7, 3e-7]})))
    what = "error of the gradients at 1e+06 elements, relu, without kernels"
    assert row(page, what)[1:3] == ["<= 1.0e-06", "3.0e-07"]


def test_processes_of_one_case_are_joined():
    page = markdown(
        document(
            *(result(RELU, study="compile", compile=[s]) for s in (1.0, 2.0, 3.0)),
            *(result(vaf(), study="compile", compile=[s]) for s in (2.0, 4.0, 6.0)),
        )
    )
    assert row(page, vaf().label)[1] == "4.00 (2.00)"


def test_what_was_not_measured_is_left_out():
    page = markdown(document(result(RELU, forward=[0.004])))
    assert row(page, "ReLU") == ["ReLU", "4.00 (1.00)", "", "", "", ""]
    assert "cnet_B" not in page


def test_the_picture_is_written(tmp_path):
    draw(
        document(
            result(RELU, forward_backward=[1.0]), result(vaf(), forward_backward=[2.0])
        ),
        tmp_path / "cpu.png",
    )
    assert (tmp_path / "cpu.png").stat().st_size > 1000


def test_the_committed_table_is_made_from_the_committed_results():
    for path in REPORTS.glob("cpu.json"):
        made = markdown(json.loads(path.read_text(encoding="utf-8")))
        assert path.with_suffix(".md").read_text(encoding="utf-8") == made
