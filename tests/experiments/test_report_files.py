"""Files of many reports: what is shared is written once, and nothing is lost."""

import dataclasses
import json

import pytest

from keras_vaf.experiments import read_reports, write_reports
from keras_vaf.experiments.reports.columns import from_columns, to_columns
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize("name", ["reports.json", "reports.json.xz"])
@pytest.mark.parametrize(
    ("left_out", "fields"),
    [
        ({}, {}),
        ({"curves": False}, {"curves": {}}),
        ({"activations": False}, {"activations": []}),
    ],
    ids=str,
)
def test_all_that_is_written_comes_back(tmp_path, name, left_out, fields):
    reports = make_arm("relu", [0.5, 0.6], activations=[{"name": "activation_1"}])
    reports += make_arm("vaf-relu", [0.7, 0.4])

    write_reports(tmp_path / name, reports, **left_out)

    assert read_reports(tmp_path / name) == [
        dataclasses.replace(report, **fields) for report in reports
    ]


def test_what_reports_share_is_written_once(tmp_path):
    write_reports(tmp_path / "reports.json", make_arm("relu", [0.5, 0.6, 0.7]))
    assert (tmp_path / "reports.json").read_text().count("preprocessing") == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "reports": [{}]}'])
def test_refuses_another_file(tmp_path, text):
    (tmp_path / "reports.json").write_text(text)
    with pytest.raises(ValueError):
        read_reports(tmp_path / "reports.json")


def test_the_same_reports_are_the_same_compressed_bytes(tmp_path):
    """Writing a committed file again changes nothing."""
    reports = make_arm("relu", [0.5, 0.6])
    one, other = tmp_path / "one.json.xz", tmp_path / "other.json.xz"
    write_reports(one, reports)
    write_reports(other, reports)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("length", [0, 5, -4])
def test_refuses_a_torn_compressed_file(tmp_path, length):
    write_reports(tmp_path / "whole.json.xz", make_arm("relu", [0.5, 0.6]))
    content = (tmp_path / "whole.json.xz").read_bytes()
    (tmp_path / "torn.json.xz").write_bytes(content[:length])
    with pytest.raises(ValueError, match="write_reports"):
        read_reports(tmp_path / "torn.json.xz")


def test_columns_hold_all_records_with_nine_digits_of_losses():
    records = [
        {"a": 1, "b": [{"c": 0.1 + 0.2, "loss": 0.1 + 0.2}], "f": []},
        {"a": 2, "b": [], "f": [{"x": 1}, {"rmse": 1.0}]},
    ]
    packed = to_columns(records)

    assert packed["columns"]["a"] == [1, 2]
    assert packed["columns"]["b"]["lengths"] == [1, 0]
    records[0]["b"][0]["loss"] = 0.3
    assert from_columns(json.loads(json.dumps(packed))) == records
