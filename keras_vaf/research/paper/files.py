"""`keep` and `read_reproduction`, which write and read an experiment's files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.report_files import read_reports, write_reports
from keras_vaf.experiments.results.selection import Selection
from keras_vaf.experiments.results.table import Table
from keras_vaf.research.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.utils import png_bytes, write_atomically


def keep(
    done: Reproduction,
    table: Table,
    selection: Selection,
    output: str | os.PathLike[str],
) -> Path:
    """Write the table, the pictures and the reports of an experiment.

    Args:
        done: The reports.
        table: The table of the reports.
        selection: The selection of the table.
        output: The folder.

    Returns:
        The file of the table. The same folder has the pictures, which name a selection
        other than `"validation"`, and a file of reports for `read_reproduction`.
    """
    start = f"{done.experiment.name}-{done.form.name}"
    end = "-".join(sorted({report.environment["backend"] for report in done.reports}))
    folder = Path(output)
    chosen = "" if selection == "validation" else f"{selection}-"
    for name, figure in table.figures.items():
        content = png_bytes(figure, bbox_inches="tight")
        write_atomically(folder / f"{start}-{name}-{chosen}{end}.png", content)
    write_reports(
        folder / f"{start}-{end}.json.xz",
        done.reports,
        curves=False,
        activations=done.experiment.functions,
    )
    path = folder / f"{start}-{selection}-{end}.md"
    return write_atomically(path, table.markdown)


def read_reproduction(
    experiment: Experiment, form: Form, paths: Sequence[str | os.PathLike[str]]
) -> Reproduction:
    """Read the reports of an experiment, to remake its table without training.

    Args:
        experiment: The experiment.
        form: The form that was run; it is part of the title.
        paths: Files of reports that `keep` wrote, of one run or of several.

    Returns:
        The reports of all files. If several files contain the same cell, the first file
        counts.

    Raises:
        ValueError: If a file is incomplete, another file, or of another experiment.
        FileNotFoundError: If the file does not exist.
    """
    reports: dict[tuple[str, int, int], Report] = {}
    for path in paths:
        for report in read_reports(path):
            if report.protocol.dataset not in experiment.datasets_of("ours"):
                raise ValueError(
                    f"Expected reports of {experiment.name}. Received: a report on "
                    f"{report.protocol.dataset} in {path}"
                )
            alone = replace(report.protocol, replicas=1)
            key = alone.digest, report.seed, report.fold
            reports.setdefault(key, report)
    return Reproduction(experiment, form, tuple(reports.values()))
