"""The folder of reports: whole files, each its own cell's, and never mixed."""

import keras
import pytest

from keras_vaf.experiments import Cell, Store
from keras_vaf.experiments.reports import store as store_module
from keras_vaf.experiments.reports.store import file_name
from tests.experiments.fakes import NETWORK, make_protocol, make_report, network_file

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_is_read_as_it_was_written(store):
    report = make_report()

    store.write(report, NETWORK)

    assert store.read(report.cell) == report
    assert store.network_path(report.cell).read_bytes() == NETWORK


def test_lies_under_backend_data_variant_and_hash(store):
    protocol = make_protocol(dataset="my data/2024")

    path = store.path(Cell(protocol, seed=3, fold=7))

    backend = keras.backend.backend()
    arm = f"relu-5-3-{protocol.digest}"
    place = f"{backend}/my-data-2024/{arm}/seed-3-fold-07.json"
    assert path == store.root / place


def test_without_its_network_counts_as_missing(store):
    report = make_report()
    store.write(report, NETWORK)
    store.network_path(report.cell).unlink()

    assert store.read(report.cell) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        NETWORK[:10],
        NETWORK[:-9],
        b"text",
        network_file(config="{"),
        network_file(config="[]"),
        network_file(config='{"class_name": "Sequential"}'),
        network_file('{"class_name": "Sequential", "config": {}}', b"weights"),
    ],
)
def test_with_an_incomplete_network_counts_as_missing(store, content):
    report = make_report()
    store.write(report, content)

    assert store.collect([report.cell]) == ([], [])


def test_torn_and_foreign_files_are_set_aside_by_name(store):
    reports = [make_report(fold=fold) for fold in range(3)]
    for report in reports:
        store.write(report, NETWORK)
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


def test_setting_aside_again_loses_nothing(store):
    report = make_report()
    for content in ("first", "second"):
        store.write(report, NETWORK)
        store.path(report.cell).write_text(content)
        store.collect([report.cell])

    folder = store.path(report.cell).parent
    kept = {path.read_text() for path in folder.glob("*.aside-*")}
    assert kept == {"first", "second"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("wine", "wine"), ("my data/2024", "my-data-2024"), ("../..", "data"), ("é", "é")],
)
def test_file_names_stay_in_their_folder(text, expected):
    assert file_name(text) == expected


def test_a_report_is_written_after_its_network(store, monkeypatch):
    written = []
    monkeypatch.setattr(
        store_module, "write_atomically", lambda path, content: written.append(path)
    )
    report = make_report()
    store.write(report, NETWORK)
    assert written == [store.network_path(report.cell), store.path(report.cell)]


def test_reports_may_be_kept_alone(tmp_path):
    store = Store(tmp_path, networks=False)
    store.write(make_report())

    assert store.read(make_report().cell) == make_report()
    assert Store(tmp_path).read(make_report().cell) is None
