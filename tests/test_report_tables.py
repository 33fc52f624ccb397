"""Tables of the pages and committed tables are those of the committed records."""

import dataclasses
import importlib
from pathlib import Path

import pytest

from keras_vaf.experiments import comparison_table, read_reports, selected_results
from keras_vaf.research.paper.tables.summaries import over_datasets
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "docs/reports"
SCORES = {
    "relu": (0.5, 0.6, 0.5, 0.6),
    "silu": (0.6, 0.6, 0.6, 0.6),
    "vaf-relu": (0.81, 0.92, 0.8, 0.91),
}


@pytest.fixture(scope="module")
def modules():
    """The modules that make the tables of the pages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        names = ("report_files", "reproduction_tables")
        yield {name: importlib.import_module(name) for name in names}


@pytest.fixture
def tables(modules, monkeypatch):
    """The tables of two datasets with scores made by hand."""
    reports = [
        report
        for dataset in ("liver", "wine")
        for name, scores in SCORES.items()
        for report in make_arm(name, scores, protocol={"dataset": dataset, "folds": 4})
    ]
    reports = [
        dataclasses.replace(
            each, trials=(dataclasses.replace(each.trials[0], rate=0.01, epochs=own),)
        )
        for each in reports
        for own in [6 if each.protocol.variant.name == "vaf-relu" else 4]
    ]
    found = selected_results(reports, "accuracy")
    tables = modules["reproduction_tables"]
    monkeypatch.setattr(
        tables, "_found", lambda name: {} if name.startswith("regression") else found
    )
    return tables


def test_the_headline_has_the_ratio_of_errors_and_counts_of_datasets(tables):
    _, _, line = tables.headline().splitlines()
    ratio = (1 - 0.86) / (1 - 0.55)
    text = f"{ratio:.2f} ({ratio:.2f} to {ratio:.2f}); 2 better, 0 worse, p = 1"
    assert line == f"| VAF, ReLU start | ReLU | {text} |"


def test_the_summary_counts_significant_datasets(tables):
    _, _, line = tables.summary("ours").splitlines()
    assert line.startswith("| classification, 2 datasets | VAF, ReLU start | ReLU ")
    assert "| 2 (2) | 0 (0) | 0.31 (0.31 to 0.31) |" in line


def test_epochs_are_relative_to_those_of_relu(tables):
    lines = tables.epochs().splitlines()[2:]
    assert lines == ["| ReLU | 1.00 |", "| SiLU | 1.00 |", "| VAF, ReLU start | 1.50 |"]
    assert "| VAF, ReLU start | 2 |" in tables.learning_rates()


def test_the_table_of_the_family_is_that_of_its_records():
    reports = read_reports(REPORTS / "family/wine.json.xz")
    committed = (REPORTS / "family/wine.md").read_text(encoding="utf-8")
    assert comparison_table(reports).markdown == committed


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("protocol", ["ours", "paper"])
def test_the_sentences_of_committed_tables_are_those_of_the_records(
    task, protocol, modules
):
    folder = REPORTS / "reproduction"
    file = folder / f"{task}-{protocol}-jax.json.xz"
    table = folder / f"{task}-{protocol}-validation-jax.md"
    lines = table.read_text(encoding="utf-8").splitlines()
    sentences = over_datasets(modules["report_files"].results_of(file))
    assert {f"- {sentence}" for sentence in sentences} <= {*lines}
