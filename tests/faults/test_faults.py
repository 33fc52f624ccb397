"""The attack counts what it should, on commands that behave badly on purpose."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.faults import counts, injection, inputs, refusals

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Return a function that runs a Python function as the command."""

    def run(work, fault=lambda: None):
        monkeypatch.setattr(injection, "run_command", lambda words: work())
        folder = tmp_path / "try"
        folder.mkdir(exist_ok=True)
        return injection.attempt(folder, "convert", fault)

    return run


def test_exit_codes_and_tracebacks_are_seen(attempt):
    def fail():
        raise TypeError("a bug")

    assert attempt(lambda: 0) == (0, "")
    assert attempt(fail)[0] == 1
    assert counts.counted(1, "Traceback (most")["tracebacks"] == 1


def test_a_wrong_exit_code_is_seen():
    assert counts.counted(143, "", expected=143)["wrong code"] == 0
    assert counts.counted(1, "", expected=143)["wrong code"] == 1
    assert counts.counted(0, "", expected=143)["wrong code"] == 0  # It was not stopped.
    assert counts.counted(2, "")["wrong code"] == 0
    assert counts.counted(-signal.SIGSEGV, "")["wrong code"] == 1


def test_finished_trainings_are_told_from_others(tmp_path):
    record = '{"fold": 0}\n'
    (tmp_path / "a.jsonl").write_text(record + '{"fold": 1, "sec')
    found = counts.finished(tmp_path)
    key = "[None, None, None, None, None, 0]"
    assert sorted(found) == [key]
    (tmp_path / "b.jsonl").write_text(record)
    assert counts.finished(tmp_path)[key] != found[key]


def test_processes_run_at_once(tmp_path, monkeypatch):
    def meet(words):
        (tmp_path / "try" / str(os.getpid())).touch()
        end = time.monotonic() + 60
        while len(os.listdir()) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        return len(os.listdir())

    (tmp_path / "try").mkdir()
    monkeypatch.setattr(injection, "run_command", meet)
    runs = injection.attempts(tmp_path / "try", "convert", lambda: None, 2)
    assert runs == [(2, ""), (2, "")]


def test_a_process_is_killed_at_each_step(attempt, tmp_path):
    path = tmp_path / "try" / "file"

    def write():
        path.unlink(missing_ok=True)
        with open(path, "w") as file:
            os.fsync(file.fileno())
        os.replace(path, path)
        return 0

    for step in range(3):
        kill = injection.at_step(step, lambda: os.kill(os.getpid(), signal.SIGKILL))
        assert attempt(write, kill)[0] == -signal.SIGKILL
    never = injection.at_step(3, lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert attempt(write, never)[0] == 0


def test_incomplete_and_temporary_files_are_not_whole(tmp_path):
    for name in ("a.keras", "b.csv", ".tmp-0-c.csv"):
        (tmp_path / name).write_text("text")
    assert counts.whole_files(tmp_path) == {"b.csv"}


def test_a_link_that_became_a_file_is_lost(tmp_path):
    link = tmp_path / "a.csv"
    (tmp_path / "b.csv").write_text("text")
    link.symlink_to("b.csv")
    before = counts.whole_files(tmp_path)
    link.unlink()
    link.write_text("text")
    assert before - counts.whole_files(tmp_path) == {"a.csv (a link)"}


RIGHT = """as it should be: same numbers numbers
fewer channels: same ValueError ValueError
forward: as it should be: numbers
forward: an unknown function: RuntimeError
"""


def test_bad_calls_of_the_kernels_are_counted():
    def of(output=RIGHT, code=0):
        found = refusals.counted_calls(output, code, "")
        return [found[each] for each in ("tried", "stopped", "lost", "wrong code")]

    assert of() == [4, 2, 0, 0]
    assert of(RIGHT.replace("same V", "OTHER V")) == [4, 2, 1, 0]
    assert of(RIGHT.replace("RuntimeError", "numbers")) == [4, 1, 1, 0]
    assert of(RIGHT[:70], -signal.SIGSEGV)[3] == 1
    with pytest.raises(ValueError, match="active kernels"):
        of(RIGHT.replace("be: numbers", "be: AttributeError"))


def test_a_refusal_changes_nothing_ends_with_2_and_is_escaped(tmp_path, monkeypatch):
    (tmp_path / "prepared").mkdir()
    (tmp_path / "prepared/toy.csv").write_text("text")
    monkeypatch.setattr(refusals, "REFUSED", {"predict": ("predict",)})

    def of(code=2, said="No.", changes=False):
        def run(words):
            if changes:
                Path("toy.csv").write_text("other")
            os.write(1, said.encode())
            return code

        monkeypatch.setattr(injection, "run_command", run)
        found = refusals.attack_refusals(tmp_path, "predict")
        return [found[each] for each in ("tried", "lost", "wrong code")]

    assert of() == [1, 0, 0]
    assert of(code=0) == of(said="\x1b[31m") == [1, 0, 1]
    assert of(changes=True) == [1, 2, 0]  # the file, and the link to it


def test_damaged_files_differ_from_the_whole_one():
    content = bytes(range(256)) * 4
    variants = list(inputs.damaged(content, 5))
    assert len(variants) == 9
    assert content not in variants
    assert variants == list(inputs.damaged(content, 5))
