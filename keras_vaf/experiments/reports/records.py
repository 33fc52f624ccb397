"""`read`, which returns the records of any study as one long table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.report_files import COMPRESSED, read_reports
from keras_vaf.utils import parse_json, require

if TYPE_CHECKING:
    import pandas

Record = dict[str, Any]
Row = tuple[Any, ...]

COLUMNS = (
    *("problem", "task", "activation", "settings", "hidden", "protocol"),
    *("learning_rate", "start", "seed", "fold", "split", "metric", "value"),
    *("epochs", "best_epoch", "parameters", "seconds", "backend"),
)
"""The columns of the table that `read` returns."""


def read(*paths: str | os.PathLike[str]) -> pandas.DataFrame:
    """Return the records of files of reports as one long pandas DataFrame.

    One row is one number: a metric of one training on one part of the rows. The columns
    are the same for all studies. A column that a study does not have is empty.

    - `problem`: Name of the dataset.
    - `task`: `"classification"` or `"regression"`.
    - `activation`: Name of the activation; `"constant"` for the constant predictor.
    - `settings`: Arguments of the activation, as JSON text.
    - `hidden`: Widths of the hidden layers, such as `"100-50"`.
    - `protocol`: Hash of all settings of the training.
    - `learning_rate`: Learning rate; empty for the default of the optimizer.
    - `start`: Number of the start.
    - `seed`: Seed of folds and initial weights.
    - `fold`: Number of the test fold.
    - `split`: `"validation"` or `"test"`, the rows of the number.
    - `metric`: `"loss"`, `"accuracy"` (a share), `"rmse"` (in units of the target),
      `"scaled_rmse"` (in standard deviations of the target), and others.
    - `value`: The number, at the best epoch; NaN if there was no finite epoch.
    - `epochs`, `best_epoch`: Numbers of trained epochs, and of the best one.
    - `parameters`: Number of trained parameters.
    - `seconds`: Duration in seconds of the trainings that share a report.
    - `backend`: Name of the backend.

    Args:
        *paths: Folders of `compare` or `search` with a `report.json`, or `.json.xz`
            files of `reproduce`.

    Raises:
        ValueError: If a file has none of these forms.
        FileNotFoundError: If a file does not exist.
        ImportError: If pandas is not installed.

    Example:

    >>> table = read()  # without files, a table without rows
    >>> table.groupby(["problem", "activation"]).value.mean().to_dict()
    {}
    """
    pandas = require("pandas", extra="experiments")
    files = [
        Path(each) / "report.json" if Path(each).is_dir() else Path(each)
        for each in paths
    ]
    rows = [row for file in files for row in _rows(file)]
    return pandas.DataFrame.from_records(rows, columns=COLUMNS).astype(
        {"value": "float64", "learning_rate": "float64"}
    )


def _rows(path: Path) -> Iterator[Row]:
    """Return the rows of a file of any study."""
    if path.suffix == COMPRESSED:
        return (each for report in read_reports(path) for each in _of_report(report))
    try:
        known = "reports" in parse_json(path.read_bytes())
    except (ValueError, TypeError):
        known = False
    if not known:
        raise ValueError(
            "Expected a file of reports: report.json of a comparison or a search, or "
            f"packed reports of experiments. Received: {path}"
        )
    return (each for report in read_reports(path) for each in _of_report(report))


def _of_report(report: Report) -> Iterator[Row]:
    """Return the rows of a report of `compare`, `search` or `reproduce`."""
    protocol = report.protocol
    fold = {
        "problem": protocol.dataset,
        "task": protocol.task,
        "hidden": "-".join(map(str, protocol.hidden)),
        "protocol": protocol.digest,
        "seed": report.seed,
        "fold": report.fold,
        "backend": report.environment["backend"],
    }
    yield from _numbers({**fold, "activation": "constant"}, "test", report.baseline)
    shared = {
        **fold,
        "activation": protocol.variant.name,
        "settings": json.dumps(protocol.variant.arguments),
        "parameters": report.parameters,
        "seconds": report.seconds,
    }
    for trial in report.trials:
        own = {
            **shared,
            "learning_rate": trial.rate,
            "start": trial.start,
            "epochs": trial.epochs,
            "best_epoch": trial.best_epoch,
        }
        yield from _numbers(own, "validation", trial.validation)
        yield from _numbers(own, "test", trial.scores)


def _numbers(own: Record, split: str, values: Record) -> Iterator[Row]:
    """Return one row of the table for each metric."""
    for metric, value in values.items():
        record = {**own, "split": split, "metric": metric, "value": value}
        yield tuple(map(record.get, COLUMNS))
