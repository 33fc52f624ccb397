"""Tables of the pages and committed tables are those of the committed records."""

import dataclasses
import functools
import importlib
import re
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
        names = ("report_files", "report_tables", "reproduction_tables")
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


def test_what_stands_between_two_lines_becomes_the_report(modules, monkeypatch):
    pages = modules["report_tables"]
    monkeypatch.setitem(pages.NAMED, "results", lambda: "| a |")
    old = "a\n<!-- report: results -->\n\nold\n\n<!-- end of report -->\nb\n"
    new = old.replace("old", "| a |")
    assert pages.refresh(old) == pages.refresh(new) == new
    assert pages.without_comments(new) == "a\n\n| a |\n\nb\n"


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


def test_the_reports_of_all_pages_are_up_to_date(modules):
    pages = modules["report_tables"]
    # Each report is made once, although several pages show it.
    made = {name: functools.cache(make) for name, make in pages.NAMED.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "NAMED", made)
        for page in pages.PAGES:
            text = page.read_text(encoding="utf-8")
            lines = text.count("<!-- report: "), text.count("<!-- end of report -->")
            assert lines[0] == lines[1], page
            message = f"{page.name}: run `python docs/report_tables.py`."
            assert pages.refresh(text) == text, message
    for make in made.values():
        for table in re.findall(r"(?:^\|.*\|\n?)+", make(), re.M):
            assert len({line.count(" | ") for line in table.splitlines()}) == 1


@pytest.mark.parametrize("page", ["README.md", "docs/help.md"])
def test_the_first_sentences_have_the_numbers_of_the_registered_answers(page, modules):
    lines = modules["report_tables"].NAMED["registered"]().splitlines()
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in lines}
    text = " ".join((ROOT / page).read_text("utf-8").split())
    for name, compared in (("T1", "the error of ReLU"), ("T4", "its error")):
        _, estimate, interval, _, _, answer = rows[name]
        low, high = (f"{float(number):.2f}" for number in interval.split(" to "))
        assert f"{float(estimate):.2f} times {compared}" in text
        assert f"{low} to {high})" in text
        assert answer == "cannot tell |"
