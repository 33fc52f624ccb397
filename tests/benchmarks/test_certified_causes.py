"""The causes of errors with a certificate are measured arm by arm."""

import json

import pytest

from benchmarks import certified_causes

pytestmark = pytest.mark.backend("jax")


def test_every_arm_is_reported(monkeypatch, tmp_path):
    arms = (certified_causes.ARMS[0], certified_causes.ARMS[-2])
    monkeypatch.setattr(certified_causes, "ARMS", arms)
    arguments = ["--steps", "3", "--seeds", "0", "1", "--output", str(tmp_path)]

    assert certified_causes.main(arguments) == 0

    report = json.loads((tmp_path / "absolute.json").read_text())
    assert [row["arm"] for row in report["rows"]] == [arm.title for arm in arms]
    assert all(len(row["errors"]["0.01"]) == 2 for row in report["rows"])
    assert all(row["certificate"] <= 1 + 1e-6 for row in report["rows"])
    text = (tmp_path / "absolute.md").read_text()
    assert "| VAF, k = 2, one function per layer, scaled per unit" in text
