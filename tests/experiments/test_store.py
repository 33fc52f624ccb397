"""The folder of reports: whole files, each its own cell's, and never mixed."""

import keras
import pytest

from keras_vaf.experiments import Cell, Store
from keras_vaf.experiments.reports.store import file_name
from tests.experiments.fakes import make_protocol, make_report

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_is_read_as_it_was_written(store):
    report = make_report()

    store.write(report)

    assert store.read(report.cell) == report


def test_lies_under_backend_data_variant_and_hash(store):
    protocol = make_protocol(dataset="my data/2024")

    path = store.path(Cell(protocol, seed=3, fold=7))

    backend = keras.backend.backend()
    arm = f"relu-5-3-{protocol.digest}"
    place = f"{backend}/my-data-2024/{arm}/seed-3-fold-07.json"
    assert path == store.root / place


def test_networks_in_folders_of_earlier_versions_are_left_alone(store):
    report = make_report()
    store.write(report)
    network = store.path(report.cell).with_suffix(".keras")
    network.write_bytes(b"text")

    assert store.collect([report.cell]) == ([report], [])
    assert network.read_bytes() == b"text"


def test_torn_and_foreign_files_are_set_aside_by_name(store):
    reports = [make_report(fold=fold) for fold in range(3)]
    for report in reports:
        store.write(report)
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
        store.write(report)
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
