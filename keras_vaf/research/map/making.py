"""`make_map`, which trains the map and writes its tables and pictures."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from keras_vaf.experiments.reports.report import Report
from keras_vaf.experiments.results.table import Table
from keras_vaf.research.map.figure import map_figure
from keras_vaf.research.map.own import find_arms
from keras_vaf.research.map.report import MapStore
from keras_vaf.research.map.results import MapRow, map_rows
from keras_vaf.research.map.running import Budget, MapRun
from keras_vaf.research.map.tables import map_table
from keras_vaf.research.map.tabular import (
    tabular_reports,
    tabular_rows,
    tabular_tasks,
)
from keras_vaf.research.map.task import Task
from keras_vaf.research.map.tasks import TASKS
from keras_vaf.utils import png_bytes, write_atomically

BUDGETS: tuple[Budget, ...] = ("steps", "time")

QUICK = ("relu", "vaf-relu", "maxmin", "probe", "vaf-layer", "lora-1")
"""The arms of the quick version."""


def make_map(
    tasks: Sequence[Task],
    activations: Sequence[str] = (),
    seeds: Sequence[int] = (),
    quick: bool = False,
    output: str | os.PathLike[str] = "runs/map",
    only_measure: bool = False,
    train: bool = True,
    tabular: Sequence[str | os.PathLike[str]] = (),
    say: Callable[[str], None] = print,
) -> dict[str, Table]:
    """Train the missing networks of the map, and write its tables and pictures.

    The report of a group of networks is written as soon as the group is trained. If
    `make_map` is called again, it trains only missing groups. The times per step are
    measured first, for all tasks, and stored, so the machine must be idle only during
    the first call.

    Args:
        tasks: The tasks.
        activations: Names of arms, or `FILE.py:CLASS`. An empty sequence means all
            arms.
        seeds: Seeds to score, instead of those of the tasks.
        quick: Whether to train a small version, which only checks that everything
            works.
        output: Folder of reports, tables and pictures.
        only_measure: Whether to stop after measuring the times.
        train: Whether to train. If not, only existing results are used.
        tabular: Files of reports of `keras-vaf reproduce --protocol ours`, or folders
            with such files. Tasks 1 and 2 are read from them. They have no form at
            equal time.
        say: Function called with a line of text for each trained group.

    Returns:
        The tables at equal steps and at equal time, with all complete datasets.
    """
    folder = Path(output)
    store = MapStore(folder / "reports")
    runs = []
    for task in tasks:
        settings = task.quick if quick else task.settings
        if seeds:
            settings = dataclasses.replace(settings, seeds=tuple(seeds))
        arms = find_arms(task, activations or (QUICK if quick else ()))
        for dataset in task.datasets[: 1 if quick else None]:
            runs.append(MapRun(task, dataset, settings, arms, store, train, say))
    if train:
        for run in runs:
            run.times()
            if not quick:  # compiled programs of the full size take much memory
                run.forget()
    if train and not only_measure:
        for run in runs:
            run.run(BUDGETS)
    shown = [dataclasses.replace(run, train=False) for run in runs]
    rows, every = _with_tables(shown, tasks, tabular_reports(tabular))
    return {
        budget: _written(each, every[budget], folder, budget)
        for budget, each in rows.items()
        if each
    }


def read_map(
    root: str | os.PathLike[str],
    tasks: Sequence[Task] = TASKS,
    quick: bool = False,
    tabular: Sequence[Report] = (),
) -> tuple[dict[Budget, list[MapRow]], dict[Budget, tuple[Task, ...]]]:
    """Return the rows of complete datasets by budget, from reports alone.

    Activations without any report of a dataset are left out.

    Args:
        root: Folder of a `MapStore`.
        tasks: The tasks.
        quick: Whether the reports are those of the small version.
        tabular: Reports of `keras-vaf reproduce --protocol ours`.

    Returns:
        The rows, and the tasks they belong to, including tasks without results.
    """
    store, runs = MapStore(Path(root)), []
    for task in tasks:
        settings = task.quick if quick else task.settings
        for dataset in task.datasets[: 1 if quick else None]:
            folder = store.folder(task, dataset, settings)
            arms = [arm for arm in task.arms if (folder / arm.name).is_dir()]
            if arms:
                runs.append(MapRun(task, dataset, settings, arms, store, train=False))
    return _with_tables(runs, tasks, tabular)


def _with_tables(
    runs: Sequence[MapRun],
    tasks: Sequence[Task],
    tabular: Sequence[Report],
) -> tuple[dict[Budget, list[MapRow]], dict[Budget, tuple[Task, ...]]]:
    """Return the rows and tasks of each budget, with the tabular tasks."""
    rows = {b: [row for run in runs for row in map_rows(run, b)] for b in BUDGETS}
    tables = tabular_rows(tabular)
    rows["steps"] = [*tables, *rows["steps"]]
    return rows, {"steps": (*tabular_tasks(tables), *tasks), "time": tuple(tasks)}


def _written(
    rows: Sequence[MapRow], tasks: Sequence[Task], folder: Path, budget: str
) -> Table:
    folder.mkdir(parents=True, exist_ok=True)
    table = map_table(rows, tasks)
    write_atomically(folder / f"map-{budget}.md", table.markdown)
    write_atomically(folder / f"map-{budget}.png", png_bytes(map_figure(rows, tasks)))
    return table
