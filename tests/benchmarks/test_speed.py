"""The benchmark of speed measures in turn, and writes its record."""

import lzma

import pandas as pd
import pytest

from benchmarks.speed import __main__ as command
from benchmarks.speed import worker
from benchmarks.speed.cases import LAYERS, MODELS, SETTINGS, groups

pytestmark = pytest.mark.backend("torch")


def test_the_interval_is_that_of_the_median():
    own = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 9.0]
    shown = worker.summary(own, [1.0] * 9)
    # The published ranks of nine values: the second and the eighth, 96.1 %.
    assert [shown[f"ratio{end}"] for end in ("_low", "", "_high")] == [1.1, 1.4, 1.7]
    assert (shown["seconds_least"], shown["seconds_median"]) == (1.0, 1.4)


def test_a_ratio_is_taken_within_a_round():
    # 1.2, 1.3 and 1.0 times the fixed function; the ratio of the medians is 1.3.
    shown = worker.summary([1.2, 2.6, 10.0], [1.0, 2.0, 10.0])
    assert shown["ratio"] == 1.2
    assert "ratio_low" not in shown


def test_all_run_in_each_round(monkeypatch):
    calls = []
    works = [lambda: calls.append("a"), lambda: calls.append("b")]
    monkeypatch.setattr(worker, "SHORTEST", 0)
    times = worker.in_turn(works, seconds=0, fewest=9)
    rounds = [calls[i : i + 2] for i in range(0, len(calls), 2)][-9:]
    assert [len(own) for own in times] == [9, 9]
    assert {tuple(each) for each in rounds} == {("a", "b"), ("b", "a")}


def test_groups_of_a_setting_have_different_names():
    for setting in SETTINGS:
        names = [group.name for group in groups(setting, quick=False)]
        assert len(set(names)) == len(names)


@pytest.mark.nightly
def test_the_command_writes_a_record(tmp_path, monkeypatch):
    setting = next(s for s in SETTINGS if (s.backend, s.kernels) == ("torch", False))
    monkeypatch.setattr(command, "SETTINGS", (setting,))
    path = tmp_path / "cpu.csv.xz"
    command.main(["--quick", "--output", str(path)])
    first = lzma.decompress(path.read_bytes()).decode().partition("\n")[0]
    assert first.startswith("# command: python -m benchmarks.speed; commit: ")
    rows = pd.read_csv(path, skiprows=1)
    assert {*rows.group} == {LAYERS[0].name, MODELS[0].name}
    assert (rows.rounds == 1).all() and (rows.seconds_least > 0).all()
