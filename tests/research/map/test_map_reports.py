"""Reports of the map are packed into few files, and restored."""

import shutil

import pytest

from keras_vaf.research.map.report import MapStore
from keras_vaf.research.map.tasks import oscillating
from tests.research.map.test_activation_map import FakeRun
from tools.map_reports import main

pytestmark = pytest.mark.backend("tensorflow")


def run_one_dataset(folder):
    """Write the reports of two arms on one of three datasets."""
    task = oscillating.TASK
    arms = task.chosen(["relu", "vaf-relu"])
    store = MapStore(folder / "reports")
    run = FakeRun(task, "chirp", task.settings, arms, store, say=lambda line: None)
    run.run()
    settings = (task, "chirp", task.settings)
    store.write(store.times_path(*settings), run.times())


def test_packed_reports_are_restored(tmp_path, capsys):
    run_one_dataset(tmp_path / "run")
    packed = ["--packed", str(tmp_path / "docs" / "map")]
    assert main(["pack", str(tmp_path / "run"), *packed]) == 0
    shutil.move(tmp_path / "run", tmp_path / "first")

    assert main(["restore", str(tmp_path / "run"), *packed]) == 0
    names = [
        sorted(path.relative_to(folder) for path in folder.rglob("*.json"))
        for folder in (tmp_path / "first", tmp_path / "run")
    ]
    assert names[0] == names[1]
    assert capsys.readouterr().out.count(f": {len(names[0])} reports") == 2


def test_a_folder_without_reports_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Expected reports of `keras-vaf map`"):
        main(["pack", str(tmp_path)])
