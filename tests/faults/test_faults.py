"""The attack counts what it should, on commands that behave badly on purpose."""

import os
import signal

import pytest

from tests.faults import attempts
from tests.faults.__main__ import damaged
from tests.faults.attempts import counted, finished, whole_files

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Return a function that runs a Python function as the command."""

    def run(work, *fault):
        monkeypatch.setattr(attempts, "run_command", lambda words: work())
        folder = tmp_path / "try"
        folder.mkdir(exist_ok=True)
        return attempts.attempt(folder, "convert", *fault)

    return run


def test_wrong_exit_codes_and_tracebacks_are_seen(attempt):
    def fail():
        raise TypeError("a bug")

    assert attempt(lambda: 0) == (0, "")
    code, text = attempt(fail)
    counts = counted(code, text + "Traceback (most")
    assert counts["wrong code"] == counts["tracebacks"] == 1
    found = [(143, 143), (1, 143), (0, 143), (2, None)]  # 0: it was not stopped
    assert [counted(c, "", e)["wrong code"] for c, e in found] == [0, 1, 0, 0]


def test_a_process_is_killed_at_each_step(attempt, tmp_path):
    def write():
        with open("file", "w") as file:
            os.fsync(file.fileno())
        os.replace("file", "other")
        return 0

    assert attempt(write) == (0, "")
    found = [*attempts.faults(tmp_path / "try", "")][:-1]
    codes = [attempt(write, fault)[0] for _, fault in found]
    assert codes == [-signal.SIGKILL, 143, 130, 0]


def test_lost_files_and_repeated_trainings_are_seen(tmp_path):
    for name in ("a.keras", "b.csv", ".tmp-0-c.csv"):
        (tmp_path / name).write_text("text")
    (tmp_path / "c.csv").symlink_to("b.csv")
    assert whole_files(tmp_path) == {"b.csv", "c.csv (a link)"}
    (tmp_path / "a.jsonl").write_text('{"fold": 0}\n{"fold": 1, "sec')
    assert [*finished(tmp_path).values()] == [1]
    (tmp_path / "b.jsonl").write_text('{"fold": 0}\n')
    assert [*finished(tmp_path).values()] == [2]
    assert b"content" not in [*damaged(b"content")]
