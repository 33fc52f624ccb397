"""Committed tables are those of the committed records."""

from pathlib import Path

import pytest

from keras_vaf.experiments import comparison_table, read_reports, selected_results
from keras_vaf.research.paper import find_experiment
from keras_vaf.research.paper.tables.summaries import over_datasets

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "docs/reports"


def test_the_table_of_the_family_is_that_of_its_records():
    reports = read_reports(REPORTS / "family/wine.json.xz")
    committed = (REPORTS / "family/wine.md").read_text(encoding="utf-8")
    assert comparison_table(reports).markdown == committed


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_the_sentences_of_committed_tables_are_those_of_the_records(task, protocol):
    folder = REPORTS / "reproduction"
    file = folder / f"{task}-{protocol}-jax.json.xz"
    table = folder / f"{task}-{protocol}-validation-jax.md"
    lines = table.read_text(encoding="utf-8").splitlines()
    experiment = find_experiment(task)
    found = selected_results(
        read_reports(file),
        experiment.metric,
        experiment.published,
        references=experiment.references,
    )
    sentences = over_datasets(found)
    assert {f"- {sentence}" for sentence in sentences} <= {*lines}
