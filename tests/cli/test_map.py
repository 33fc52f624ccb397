"""`keras-vaf map` on the command line."""

import pytest

pytestmark = pytest.mark.backend("tensorflow")


def test_without_reports_nothing_is_shown_or_written(run, tmp_path):
    code, output, _ = run("map --show")
    assert (code, output) == (0, "No dataset is complete yet.\n")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_task_is_refused(refusal, tmp_path):
    said = refusal("map --tasks waves")
    assert "Tasks are oscillating, special" in said
    assert "Received: waves" in said
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_activation_is_refused(refusal, tmp_path):
    said = refusal("map --tasks oscillating --activations reul")
    assert "Received: " in said
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_that_name_is_refused(refusal, tmp_path):
    (tmp_path / "mine.py").write_text("x = 1\n")
    assert "my_task" in refusal("map --tasks mine.py:my_task")
