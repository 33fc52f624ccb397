"""The lines that say how far trainings are, and how long they still take."""

import re
import threading

import pytest

from keras_vaf_cli import progress
from keras_vaf_cli.progress import Progress, duration

pytestmark = pytest.mark.backend("torch")


@pytest.fixture
def clock(monkeypatch):
    """A clock that is moved by hand."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_the_time_left_follows_from_what_is_finished(clock):
    shown = Progress()
    items = iter(shown(["a", "b", "c", "d"], 4))
    assert next(items) == "a"
    clock[0] += 10
    assert shown.text == "Trained 1 of 4 in 10 s, about 30 s left."
    shown.train(0.25)
    assert shown.text == "Trained 1 of 4 in 10 s, about 22 s left."
    assert list(items) == ["b", "c", "d"]
    assert shown.text == "Trained 4 of 4 in 10 s."


def test_the_first_epochs_give_an_upper_bound(clock):
    shown = Progress()

    def trainings():
        clock[0] += 6
        assert shown.text == "Trained 0 of 10 in 6 s."
        shown.train(0.5)  # half of the epochs of the first one
        assert shown.text == "Trained 0 of 10 in 6 s, at most 1 min 54 s left."
        yield from range(10)

    assert len(list(shown(trainings(), 10))) == 10


def test_a_line_comes_in_time_and_a_long_run_gets_one_hint(monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_PER_LINE", 0.2)
    monkeypatch.setattr(progress, "_LONG", 0)
    shown, lines, written = Progress("A hint."), [], threading.Event()

    def write(text):
        lines.append(text)
        if text == "A hint.":
            written.set()

    def trainings():
        shown.train(0.01)
        assert written.wait(10)  # while the first item is still trained
        yield "first"

    monkeypatch.setattr(progress, "_print", write)
    list(shown(trainings(), 1))
    first, *lines = lines
    assert first == "Training 1 models."
    assert re.fullmatch(r"Trained 0 of 1 in \d s, at most .* left\.", lines[0])
    assert lines.count("A hint.") == 1
    assert re.fullmatch(r"Trained 1 of 1 in \d s\.", lines[-1])


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (59.6, "1 min 0 s"), (7200, "120 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
