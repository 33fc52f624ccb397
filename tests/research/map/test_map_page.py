"""The page of the map is made from packed reports, with whatever tasks they have."""

import importlib
import shutil
from pathlib import Path

import pytest

from keras_vaf.research.map.report import MapStore
from keras_vaf.research.map.tasks import oscillating
from tests.research.map.test_activation_map import FakeRun
from tools.map_reports import main

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[3]


@pytest.fixture
def module(monkeypatch, tmp_path):
    """The module that makes the page, and an empty folder of reports."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    module = importlib.import_module("map_tables")
    monkeypatch.setattr(module.report_files, "REPORTS", tmp_path / "docs")
    return module


def run_one_dataset(folder):
    """Write the reports of two arms on one of three datasets."""
    task = oscillating.TASK
    arms = task.chosen(["relu", "vaf-relu"])
    store = MapStore(folder / "reports")
    run = FakeRun(task, "chirp", task.settings, arms, store, say=lambda line: None)
    run.run()
    settings = (task, "chirp", task.settings)
    store.write(store.times_path(*settings), run.times())


def test_without_reports_no_task_is_shown(module):
    assert module.map_overview() == "No task has been run."
    assert module.map_files() == {}


def test_the_page_shows_the_tasks_with_reports_and_names_the_others(
    module, tmp_path, capsys
):
    run_one_dataset(tmp_path / "run")
    packed = ["--packed", str(tmp_path / "docs" / "map")]
    assert main(["pack", str(tmp_path / "run"), *packed]) == 0
    shutil.move(tmp_path / "run", tmp_path / "first")

    text, overview = module.map_results(), module.map_overview()
    files = module.map_files()

    assert "| chirp | ReLU | VAF from ReLU |" in text
    assert (
        "run on 1 of 3 datasets: the selected VAF has 1 (1 to 1) times the error"
        in text
    )
    line = "| [Oscillating functions](#task-oscillating) | 1 (1 to 1), p = 1.000 |"
    assert line in overview
    assert "| Physics-informed networks | not run | not run |" in overview
    assert module.map_losses().startswith("On 1 other kinds of tasks")
    assert "The VAF is better with p < 0.05 on 0 of 1 tasks." in overview
    assert files["images/map/overview.png"].startswith(b"\x89PNG")
    assert files["images/map/oscillating-time.png"].startswith(b"\x89PNG")
    assert "| step time | compilation, s |" in files["reports/map/map-steps.md"]

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
