"""Compact reports: small, and enough for tables."""

import dataclasses

import pytest

from keras_vaf.experiments import read_compact, write_compact
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize("name", ["reports.json", "reports.json.gz"])
def test_all_but_curves_and_activations_comes_back(tmp_path, name):
    reports = make_arm("relu", [0.5, 0.6]) + make_arm("vaf-relu", [0.7, 0.4])
    write_compact(tmp_path / name, reports)
    assert read_compact(tmp_path / name) == [
        dataclasses.replace(report, curves={}, activations=[]) for report in reports
    ]


def test_what_reports_share_is_written_once(tmp_path):
    write_compact(tmp_path / "reports.json", make_arm("relu", [0.5, 0.6, 0.7]))
    assert (tmp_path / "reports.json").read_text().count("preprocessing") == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "reports": [{}]}'])
def test_refuses_another_file(tmp_path, text):
    (tmp_path / "reports.json").write_text(text)
    with pytest.raises(ValueError):
        read_compact(tmp_path / "reports.json")


def test_the_same_reports_are_the_same_compressed_bytes(tmp_path):
    """So that making a committed file anew changes nothing."""
    reports = make_arm("relu", [0.5, 0.6])
    one, other = tmp_path / "one.json.gz", tmp_path / "other.json.gz"
    write_compact(one, reports)
    write_compact(other, reports)
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("length", [0, 5, -4])
def test_refuses_a_torn_compressed_file(tmp_path, length):
    write_compact(tmp_path / "whole.json.gz", make_arm("relu", [0.5, 0.6]))
    content = (tmp_path / "whole.json.gz").read_bytes()
    (tmp_path / "torn.json.gz").write_bytes(content[:length])
    with pytest.raises(ValueError, match="write_compact"):
        read_compact(tmp_path / "torn.json.gz")
