"""Cells are packed into a file, and restored, so that a run trains only what lacks."""

import dataclasses

import keras
import pytest

from keras_vaf.experiments import read_reports, write_reports
from keras_vaf.experiments.reports.store import Store
from tests.experiments.fakes import make_arm
from tools.reproduction_reports import main, pack_cells, restore_cells

pytestmark = pytest.mark.backend("tensorflow")


def reports_of(backend):
    there = {"backend": backend, "device": "cpu:0", "versions": {}}
    return [
        dataclasses.replace(report, environment=there)
        for report in make_arm("relu", [0.5, 0.6])
    ]


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_a_cell_is_restored_once_under_the_backend_of_its_run(tmp_path, backend):
    reports = reports_of(backend)
    write_reports(tmp_path / "packed.json.xz", reports, curves=False)

    counts = [restore_cells(tmp_path / "run", tmp_path) for _ in range(2)]

    assert counts == [2, 0]
    store = Store(tmp_path / "run" / "cells")
    for report in reports:
        assert store.path(report.cell, backend).is_file()
        if backend == keras.backend.backend():
            assert store.read(report.cell).trials == report.trials


def test_a_file_has_the_cells_that_no_other_file_has(tmp_path):
    first, second = reports_of("tensorflow")
    store = Store(tmp_path / "run" / "cells")
    for report in (first, second):
        together = dataclasses.replace(report.protocol, replicas=4)
        store.write(dataclasses.replace(report, protocol=together))
    packed = tmp_path / "packed"
    packed.mkdir()
    write_reports(packed / "complete.json.xz", [first], curves=False)
    file = packed / "unfinished" / "rest.json.xz"

    counts = [pack_cells(tmp_path / "run", file, packed) for _ in range(2)]

    assert counts == [1, 1]  # a second time, the file is replaced
    (found,) = read_reports(file)
    assert (found.fold, found.trials) == (second.fold, second.trials)


def test_what_was_packed_can_be_restored(tmp_path, capsys):
    for report in reports_of("jax"):
        Store(tmp_path / "run" / "cells").write(report)
    packed = ["--packed", str(tmp_path / "packed")]
    file = tmp_path / "packed" / "rest.json.xz"

    main(["pack", str(tmp_path / "run"), str(file), *packed])
    main(["restore", str(tmp_path / "again"), *packed])

    assert "2 reports written" in (said := capsys.readouterr().out)
    assert "2 cells written" in said
    written = [
        sorted(path.rglob("*.json")) for path in (tmp_path / "run", tmp_path / "again")
    ]
    assert [path.name for path in written[0]] == [path.name for path in written[1]]
