"""Committed reports become cells, so that a run trains only what they lack."""

import dataclasses

import keras
import pytest

from benchmarks.reports_to_cells import write_cells
from keras_vaf.experiments import write_reports
from keras_vaf.experiments.reports.store import Store
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


def test_a_cell_is_written_once_and_read_again(tmp_path):
    here = {"backend": keras.backend.backend(), "device": "cpu:0", "versions": {}}
    reports = [
        dataclasses.replace(report, environment=here)
        for report in make_arm("relu", [0.5, 0.6])
    ]
    file = tmp_path / "reports.json.gz"
    write_reports(file, reports, curves=False)
    store = Store(tmp_path / "run" / "cells", networks=False)

    counts = [write_cells(tmp_path / "run", [file]) for _ in range(2)]

    assert counts == [2, 0]
    for report in reports:
        assert store.read(report.cell).trials == report.trials
