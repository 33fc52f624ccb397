"""The committed reports, as the tables of the pages need them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.experiments import read_reports, selected_results
from keras_vaf.experiments.reports.report import Report
from keras_vaf.research.paper import find_experiment
from keras_vaf.research.paper.tables.summaries import Results
from keras_vaf.utils import markdown_table

REPORTS = Path(__file__).parent / "reports"

Row = dict[str, str]


@functools.cache
def reports_of(file: Path) -> list[Report]:
    """Return the reports of a file."""
    return read_reports(file)


@functools.cache
def results_of(file: Path) -> Results:
    """Return the results of a file of reports, selected on validation rows.

    Args:
        file: Path whose name begins with the name of the experiment.
    """
    name = file.name.partition("-paper")[0].partition("-ours")[0]
    experiment = find_experiment(name)
    return selected_results(
        reports_of(file),
        experiment.metric,
        experiment.published,
        references=experiment.references,
    )


def render(rows: Sequence[Row], text_columns: int = 1) -> str:
    """Return rows as a table.

    Args:
        rows: Cells by the titles of their columns, which are equal in all rows.
        text_columns: Number of the first columns, which are aligned as text.
    """
    lines = [list(row.values()) for row in rows]
    return markdown_table(list(rows[0]), lines, text_columns)
