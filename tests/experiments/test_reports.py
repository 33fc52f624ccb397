"""Report files: whole, each its own cell's, and never mixed."""

import json

import keras
import pytest

from keras_vaf.experiments import Cell, Report, Store, read_reports
from keras_vaf.experiments.reports import environment, file_name, write_reports
from tests.experiments.fakes import make_protocol, make_report


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def model():
    return keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])


def test_comes_back_from_json():
    report = make_report()

    data = json.loads(json.dumps(report.to_dict()))

    assert Report.from_dict(data) == report


@pytest.mark.parametrize(
    "data", [None, [], {}, {"format": 2}, {"format": 1, "seed": 0}], ids=str
)
def test_refuses_what_is_no_report(data):
    with pytest.raises(ValueError, match=r"Expected a report .* Received: "):
        Report.from_dict(data)


def test_of_an_unknown_format_is_refused():
    data = make_report().to_dict() | {"format": 99}

    with pytest.raises(ValueError, match="99"):
        Report.from_dict(data)


def test_is_read_as_it_was_written(store, model):
    report = make_report()

    store.write(report, model)

    assert store.read(report.cell) == report
    saved = keras.saving.load_model(store.model_path(report.cell))
    assert saved.count_params() == model.count_params()


def test_lies_under_backend_data_variant_and_hash(store):
    protocol = make_protocol(dataset="my data/2024")

    path = store.path(Cell(protocol, seed=3, fold=7))

    backend = keras.backend.backend()
    arm = f"relu-5-3-{protocol.digest}"
    place = f"{backend}/my-data-2024/{arm}/seed-3-fold-07.json"
    assert path == store.root / place


def test_without_its_network_counts_as_missing(store, model):
    report = make_report()
    store.write(report, model)
    store.model_path(report.cell).unlink()

    assert store.read(report.cell) is None


def test_torn_and_foreign_files_are_set_aside_by_name(store, model):
    reports = [make_report(fold=fold) for fold in range(3)]
    for report in reports:
        store.write(report, model)
    torn, foreign, good = (store.path(report.cell) for report in reports)
    torn.write_bytes(torn.read_bytes()[:100])
    foreign.write_bytes(good.read_bytes())

    found, set_aside = store.collect([report.cell for report in reports])

    assert found == reports[2:]
    assert [path.name for path in set_aside] == [
        "seed-0-fold-00.json.aside-1",
        "seed-0-fold-01.json.aside-1",
    ]
    assert not torn.exists()
    assert set_aside[1].read_bytes() == good.read_bytes()


def test_setting_aside_again_loses_nothing(store, model):
    report = make_report()
    for content in ("first", "second"):
        store.write(report, model)
        store.path(report.cell).write_text(content)
        store.collect([report.cell])

    folder = store.path(report.cell).parent
    kept = {path.read_text() for path in folder.glob("*.aside-*")}
    assert kept == {"first", "second"}


def test_many_share_one_file(tmp_path):
    reports = [make_report(fold=fold) for fold in range(2)]

    write_reports(tmp_path / "report.json", reports)

    assert read_reports(tmp_path / "report.json") == reports


def test_names_versions_backend_and_device():
    found = environment()

    assert found["backend"] == keras.backend.backend()
    assert found["versions"]["keras"] == keras.__version__
    assert found["backend"] in found["versions"]
    assert (
        "cpu" in found["device"]
        or "cuda" in found["device"]
        or "gpu" in found["device"]
    )
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [("wine", "wine"), ("my data/2024", "my-data-2024"), ("../..", "data"), ("é", "é")],
)
def test_file_names_stay_in_their_folder(text, expected):
    assert file_name(text) == expected
