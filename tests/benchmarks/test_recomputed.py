"""Pandas and the package select and compare the same trainings, in two ways."""

from pathlib import Path

import pytest

from benchmarks.evidence import recomputed
from benchmarks.evidence.ratios import counts
from keras_vaf.experiments import read_reports, selected_results
from keras_vaf.research.paper import find_experiment
from keras_vaf.research.paper.tables.summaries import summaries_of

pytestmark = pytest.mark.backend("torch")

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_published_ratios_are_those_of_the_package(task, monkeypatch):
    monkeypatch.chdir(ROOT)
    frame = recomputed.trainings(task)
    page = Path("docs/reports/evidence/recomputed.md").read_text(encoding="utf-8")
    assert recomputed.headline(task, frame) in page
    if task == "regression":  # published in units of the scaled targets
        frame = frame.assign(error=frame.scaled)
    errors = recomputed.errors(frame)
    experiment = find_experiment(task)
    found = selected_results(
        read_reports(f"docs/reports/reproduction/{task}-ours-jax.json.xz"),
        experiment.metric,
        experiment.published,
        references=experiment.references,
    )
    compared = 0
    for each in summaries_of(found):
        pair = each.activation, each.reference
        if pair in recomputed.HEADLINE:
            ratio = recomputed.ratio(errors, *pair)
            own, other = sorted(each.ratio.logs), sorted(ratio.logs)
            assert own == pytest.approx(other, abs=1e-9)
            directions = [len(each.datasets(d)) for d in ("better", "worse", "equal")]
            assert counts(ratio) == tuple(directions)
            compared += 1
    assert compared >= 8
