"""The table of the training benchmark, from numbers written by hand."""

import json
from pathlib import Path

import pytest

from benchmarks import training

REPORTS = Path(__file__).parents[2] / "docs/reports/training"

pytestmark = pytest.mark.backend("jax")


def document(*rounds):
    """Return what the command writes; aims beyond the given rounds get ones."""
    ones = [[[1.0] * len(aim.tasks)] for aim in training.AIMS]
    results = [{"rounds": each} for each in [*rounds, *ones[len(rounds) :]]]
    return {"environment": {"cores": "2"}, "results": results}


def test_every_aim_is_of_tasks_that_there_are():
    named = {name for aim in training.AIMS for name, _ in aim.tasks}
    assert named == {*training.TASKS}


def test_a_speed_is_the_median_of_ratios_within_rounds():
    text = training.markdown(document([[0.1, 5.0], [0.1, 6.0], [0.2, 6.0]]))

    [line] = [line for line in text.splitlines() if "142 rows" in line]
    assert line.endswith("| >= 40 | 50 | 50, 60, 30 |")


def test_a_missed_aim_is_said_to_be():
    text = training.markdown(document([[0.1, 3.0]]))

    assert "| >= 40 | **30** (missed) | 30 |" in text
    assert "| <= 20 | 1 | 1 |" in text
    assert "| cores | 2 |" in text


@pytest.mark.parametrize("predicted", [0.85, 1.15])
def test_memory_may_be_more_or_less_than_predicted(predicted):
    *others, _ = training.AIMS
    ones = [[[1.0] * len(aim.tasks)] for aim in others]

    text = training.markdown(document(*ones, [[predicted]]))

    assert "| <= 0.2 | 0.15 | 0.15 |" in text


def test_a_task_says_one_number(capsys, monkeypatch):
    monkeypatch.setitem(training.TASKS, "start", lambda: 0.25)

    assert training.main(["--task", "start"]) == 0
    assert capsys.readouterr().out == "0.25\n"


def test_the_committed_table_is_that_of_its_numbers():
    document = json.loads((REPORTS / "cpu.json").read_text())
    assert training.markdown(document) == (REPORTS / "cpu.md").read_text()
