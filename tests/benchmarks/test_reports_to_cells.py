"""Committed reports become cells, so that a run trains only what they lack."""

import dataclasses

import keras
import pytest

from benchmarks.reports_to_cells import write_cells
from keras_vaf.experiments import write_reports
from keras_vaf.experiments.reports.store import Store
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_a_cell_is_written_once_under_the_backend_of_its_run(tmp_path, backend):
    there = {"backend": backend, "device": "cpu:0", "versions": {}}
    reports = [
        dataclasses.replace(report, environment=there)
        for report in make_arm("relu", [0.5, 0.6])
    ]
    file = tmp_path / "reports.json.gz"
    write_reports(file, reports, curves=False)

    counts = [write_cells(tmp_path / "run", [file]) for _ in range(2)]

    assert counts == [2, 0]
    store = Store(tmp_path / "run" / "cells", networks=False)
    for report in reports:
        assert store.path(report.cell, backend).is_file()
        if backend == keras.backend.backend():
            assert store.read(report.cell).trials == report.trials
