"""The table of the training benchmark, from numbers written by hand."""

import pytest

from benchmarks.training import __main__ as command
from benchmarks.training import tasks

pytestmark = pytest.mark.backend("jax")


def document(*rounds):
    """Return what the command writes; aims beyond the given rounds get ones."""
    ones = [[[1.0] * len(aim.tasks)] for aim in tasks.AIMS]
    results = [{"rounds": each} for each in [*rounds, *ones[len(rounds) :]]]
    return {"environment": {"cores": "2"}, "results": results}


def test_every_aim_is_of_tasks_that_there_are():
    names = {task.__name__ for task in tasks.TASKS}

    assert {name for aim in tasks.AIMS for name, _ in aim.tasks} == names


def test_a_speed_is_the_median_of_ratios_within_rounds():
    text = command.markdown(document([[0.1, 5.0], [0.1, 6.0], [0.2, 6.0]]))

    [line] = [line for line in text.splitlines() if "142 rows" in line]
    assert line.endswith("| >= 40 | 50 | 50, 60, 30 |")


def test_a_missed_aim_is_said_to_be():
    text = command.markdown(document([[0.1, 3.0]]))

    assert "| >= 40 | **30** (missed) | 30 |" in text
    assert "| <= 20 | 1 | 1 |" in text
    assert "| cores | 2 |" in text


@pytest.mark.parametrize("predicted", [0.85, 1.15])
def test_memory_may_be_more_or_less_than_predicted(predicted):
    *others, _ = tasks.AIMS
    ones = [[[1.0] * len(aim.tasks)] for aim in others]

    text = command.markdown(document(*ones, [[predicted]]))

    assert "| <= 0.2 | 0.15 | 0.15 |" in text


def test_a_task_says_one_number(capsys, monkeypatch):
    def table_batched(quick):
        return 0.25

    monkeypatch.setattr(command, "TASKS", (table_batched,))

    assert command.main(["--task", "table_batched"]) == 0
    assert capsys.readouterr().out == "0.25\n"
