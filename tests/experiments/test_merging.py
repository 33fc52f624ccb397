"""Folders of shards, put together."""

import keras
import pytest

from keras_vaf.experiments import Merged, Store, merge
from tests.experiments.fakes import NETWORK, make_report

pytestmark = pytest.mark.backend("tensorflow")


def write(folder, *folds, network=NETWORK):
    """Write reports of these folds as a run on this backend does."""
    store = Store(folder / "cells")
    place = {"backend": keras.backend.backend(), "device": "cpu:0"}
    reports = [make_report(fold=fold, environment=place) for fold in folds]
    for report in reports:
        store.write(report, network)
    return store, reports


def test_reports_and_networks_of_all_folders_are_copied(tmp_path):
    _, first = write(tmp_path / "a", 0, 1)
    _, second = write(tmp_path / "b", 2)

    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")

    cells = [report.cell for report in (*first, *second)]
    store = Store(tmp_path / "c" / "cells")
    assert merged == Merged(copied=3, there=0, left_out=())
    assert store.collect(cells) == ([*first, *second], [])


def test_what_is_there_stays_and_the_first_folder_counts(tmp_path):
    for folder in ("a", "b", "c"):
        write(tmp_path / folder, 0, network=folder.encode())
    write(tmp_path / "a", 1, network=b"a")
    store, reports = write(tmp_path / "b", 1, network=b"b")

    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")

    store = Store(tmp_path / "c" / "cells")
    assert merged == Merged(copied=1, there=3, left_out=())
    assert store.network_path(make_report().cell).read_bytes() == b"c"
    assert store.network_path(reports[0].cell).read_bytes() == b"a"


def test_reports_of_other_backends_keep_their_place(tmp_path):
    store, [report] = write(tmp_path / "a", 0)
    place = store.path(report.cell, "somewhere")
    place.parent.mkdir(parents=True)
    text = store.path(report.cell).read_text()
    place.write_text(text.replace(f'"{keras.backend.backend()}"', '"somewhere"'))

    merge([tmp_path / "a"], tmp_path / "c")

    copied = sorted(path.name for path in (tmp_path / "c" / "cells").iterdir())
    assert copied == sorted(["somewhere", keras.backend.backend()])


def test_torn_and_foreign_files_are_left_out_and_named(tmp_path):
    store, reports = write(tmp_path / "a", 0, 1, 2)
    torn, foreign, good = (store.path(report.cell) for report in reports)
    torn.write_bytes(torn.read_bytes()[:100])
    foreign.write_bytes(good.read_bytes())

    merged = merge([tmp_path / "a"], tmp_path / "c")

    assert merged == Merged(copied=1, there=0, left_out=(torn, foreign))


def test_a_folder_without_cells_is_refused_before_anything_is_copied(tmp_path):
    write(tmp_path / "a", 0)

    with pytest.raises(FileNotFoundError, match=r"nowhere is not a folder of results"):
        merge([tmp_path / "a", tmp_path / "nowhere"], tmp_path / "c")

    assert not (tmp_path / "c").exists()
