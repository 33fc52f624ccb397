"""Tasks 1 and 2 of the map, from reports of cross-validations: `tabular_rows`."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.reports.report_files import read_reports
from keras_vaf.experiments.results.selection import FIXED, TEAMS, Selected, select
from keras_vaf.research.map.arm import Arm, Kind
from keras_vaf.research.map.results import MapRow
from keras_vaf.research.map.task import Settings, Task


def _not_trained(dataset: str, settings: Settings) -> Any:
    raise ValueError(
        "Tabular tasks are read from reports of `keras-vaf reproduce --protocol ours`. "
        f"Received: {dataset}"
    )


def tabular_tasks(rows: Sequence[MapRow]) -> tuple[Task, ...]:
    """Return the tabular tasks that rows belong to.

    Args:
        rows: Rows of `tabular_rows`.
    """
    tasks = []
    for name, measure in (("regression", "RMSE"), ("classification", "error")):
        own = [row for row in rows if row.task == name]
        datasets = tuple(dict.fromkeys(row.dataset for row in own))
        arms = tuple(dict.fromkeys(row.arm.name for row in own))
        by_name = {row.arm.name: row.arm for row in own}
        if own:
            tasks.append(
                Task(
                    name=name,
                    title=f"Tabular {name}",
                    datasets=datasets,
                    arms=tuple(by_name[arm] for arm in arms),
                    settings=Settings(1),
                    quick=Settings(1),
                    make=_not_trained,
                    measure=f"{measure} on the test rows of all folds and seeds",
                )
            )
    return tuple(tasks)


def tabular_reports(files: Sequence[str | os.PathLike[str]]) -> list[Report]:
    """Return the reports of files, or of all files in folders."""
    paths = [path for file in files for path in _files(Path(file))]
    return [report for path in paths for report in read_reports(path)]


def tabular_rows(reports: Sequence[Report]) -> list[MapRow]:
    """Return the rows of tabular datasets, at equal epochs.

    In each fold, the validation rows select the learning rate of an arm. Their mean
    score selects its architecture. A fold takes the place of a seed. Datasets without
    reports are left out.

    Args:
        reports: Reports of `keras-vaf reproduce --protocol ours`.
    """
    selected = select(reports)
    return [
        _row(dataset, each)
        for (dataset, name), each in selected.items()
        if name not in TEAMS
    ]


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.json.xz")) if path.is_dir() else [path]


def _row(dataset: str, selected: Selected) -> MapRow:
    protocol, reports = selected.protocol, selected.reports
    variant, metric = protocol.variant, protocol.metric
    task = "classification" if metric.endswith("accuracy") else "regression"
    kind: Kind = "fixed" if variant.name in FIXED else "rival"
    kind = "vaf" if variant.name in TEAMS["vaf-best"] else kind
    pairs = list(zip(reports, selected.trials, strict=True))
    return MapRow(
        task=task,
        dataset=dataset,
        budget="steps",
        arm=Arm(variant.name, variant.title, kind, variant.name),
        errors=tuple(_error(t.scores, metric, r.rows["test"]) for r, t in pairs),
        validation=statistics.fmean(
            _error(t.validation, metric, r.rows["validation"]) for r, t in pairs
        ),
        rate=statistics.median(trial.rate or 0.0 for trial in selected.trials),
        tries=len(reports[0].trials),
        steps=protocol.epochs,
        parameters=reports[0].parameters,
        ratio=None,
        compilation=None,
        load=None,
        more={},
        overlap=1 / protocol.folds,
    )


def _error(scores: Any, metric: str, rows: int) -> float:
    """Return an error above 0: half a wrong row is added to those of a class."""
    score = scores[metric]
    if score is None:
        return float("inf")
    if not metric.endswith("accuracy"):
        return score
    return ((1 - score) * rows + 0.5) / (rows + 1)
