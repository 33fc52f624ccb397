"""Compact reports: small, and enough for tables."""

import dataclasses

import pytest

from keras_vaf.experiments import read_compact, write_compact
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


def test_all_but_curves_and_activations_comes_back(tmp_path):
    reports = make_arm("relu", [0.5, 0.6]) + make_arm("vaf-relu", [0.7, 0.4])
    write_compact(tmp_path / "reports.json", reports)
    assert read_compact(tmp_path / "reports.json") == [
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
