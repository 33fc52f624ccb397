"""The benchmark of speed measures in turn, and writes its record."""

import lzma
import sys

import pandas as pd
import pytest

from benchmarks.speed import __main__ as command
from benchmarks.speed import rows

pytestmark = pytest.mark.backend("torch")


def test_ratios_are_taken_within_rounds_and_have_the_interval_of_their_median():
    # 1.2, 1.3 and 1.0 times the fixed function; the ratio of the medians is 1.3.
    shown = rows.summary([1.2, 2.6, 10.0], [1.0, 2.0, 10.0])
    assert shown == {"rounds": 3, "seconds_median": 2.6, "ratio": 1.2}
    shown = rows.summary([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 9.0], [1.0] * 9)
    # The published ranks of nine values: the second and the eighth, 96.1 %.
    assert [shown[f"ratio{end}"] for end in ("_low", "", "_high")] == [1.1, 1.4, 1.7]


def test_all_run_in_each_round():
    calls = []
    times = rows.in_turn([lambda: calls.append("a"), lambda: calls.append("b")], 0)
    assert [len(own) for own in times] == [9, 9]
    rounds = {tuple(calls[i : i + 2]) for i in range(0, 18, 2)}
    assert rounds == {("a", "b"), ("b", "a")}


def test_the_tables_show_a_vaf_with_and_without_kernels():
    names = "backend case work kernels activation g k sharing ratio seconds_median"
    measured = [
        ("jax", "MLP", "first step", False, "relu", "", 0, "", 1.0, 0.8),
        ("jax", "MLP", "first step", True, "relu", "", 0, "", 1.0, 0.5),
        ("jax", "MLP", "first step", False, "VAF", "relu", 3, "layer", 3.0, 1.5),
        ("jax", "MLP", "first step", True, "VAF", "relu", 3, "layer", 2.0, 1.0),
        ("jax", "MLP", "training", False, "VAF", "relu", 3, "layer", 1.25, 2.0),
        ("jax", "MLP", "training", True, "VAF", "relu", 3, "layer", 1.5, 3.0),
    ]
    found = [dict(zip(names.split(), row, strict=True)) for row in measured]
    first, training = command.tables(found)
    assert "0.50 / 1.00 / 1.50" in first
    assert "1.50 / 1.25" in training


@pytest.mark.nightly
def test_the_command_writes_a_record(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "SETTINGS", (("torch", False),))
    path = tmp_path / "cpu.csv.xz"
    monkeypatch.setattr(sys, "argv", ["speed", "--quick", "--output", str(path)])
    command.main()
    first = lzma.decompress(path.read_bytes()).decode().partition("\n")[0]
    assert first.startswith("# command: python -m benchmarks.speed; commit: ")
    found = pd.read_csv(path, skiprows=1)
    assert {*found.work} >= {"first step", "training", "inference"}
    assert (found.rounds == 1).all() and (found.seconds_median > 0).all()
