"""Results of the map, made from its committed reports."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import report_files

from keras_vaf.experiments.activation_map.making import BUDGETS, read_map
from keras_vaf.experiments.activation_map.report import unpack
from keras_vaf.experiments.activation_map.summary import map_summary
from keras_vaf.experiments.activation_map.tables import map_figure, map_table, verdicts
from keras_vaf.utils import png_bytes
from keras_vaf.utils.text import markdown_table

_TITLES = {"steps": "Equal steps", "time": "Equal time"}


def map_files() -> dict[str, bytes | str]:
    """Return the pictures and the full tables of the map, by their paths."""
    rows, tasks = _results(report_files.REPORTS)
    files: dict[str, bytes | str] = {}
    for budget in BUDGETS:
        if rows[budget]:
            figure = map_figure(rows[budget], tasks[budget])
            files[f"images/map-{budget}.png"] = png_bytes(figure)
            table = map_table(rows[budget], tasks[budget]).markdown
            files[f"reports/map/map-{budget}.md"] = table
    return files


def map_results() -> str:
    """Chosen activations of each dataset, and a verdict for each task."""
    rows, tasks = _results(report_files.REPORTS)
    if not any(rows.values()):
        return "No task has been run."
    summary = map_summary(rows, tasks["steps"])
    parts = [markdown_table(summary.columns, summary.lines, 5)]
    for budget in BUDGETS:
        title = _TITLES[budget]
        if not rows[budget]:
            parts.append(f"### {title}\n\nNo task has been run.")
            continue
        sentences = verdicts(rows[budget], tasks[budget])
        parts += [
            f"### {title}",
            "\n".join(f"- {sentence}" for sentence in sentences),
            f"![Gain of each activation on each dataset, at {title.lower()}]"
            f"(images/map-{budget}.png)",
            "[All errors, step times and compilation times]"
            f"(reports/map/map-{budget}.md)",
        ]
    return "\n\n".join(parts)


@functools.cache
def _results(reports: Path):
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(reports.glob("map/*.json.gz")):
            unpack(file, Path(folder))
        return read_map(folder, tabular=_tabular(reports))


def _tabular(reports: Path):
    return [
        path
        for task in ("regression", "classification")
        for path in sorted(reports.glob(f"reproduction/{task}-ours-*.json.gz"))
    ]


TABLES = (map_results,)
