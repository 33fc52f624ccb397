"""`make_map` trains the map, and writes its table and picture."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from keras_vaf.experiments.activation_map.own import find_arms
from keras_vaf.experiments.activation_map.report import MapStore
from keras_vaf.experiments.activation_map.results import MapRow, map_rows
from keras_vaf.experiments.activation_map.running import Budget, MapRun
from keras_vaf.experiments.activation_map.tables import map_figure, map_table
from keras_vaf.experiments.activation_map.tabular import tabular_rows, tabular_tasks
from keras_vaf.experiments.activation_map.task import Task
from keras_vaf.experiments.results.table import Table
from keras_vaf.utils import png_bytes, write_atomically

BUDGETS: tuple[Budget, ...] = ("steps", "time")

QUICK = ("relu", "vaf-relu", "maxmin", "probe", "vaf-layer", "lora-1")
"""The arms of the small form."""


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
    """Train what is missing of the map, and write its tables and pictures.

    Every group of networks is written as soon as it is trained. Called again,
    `make_map` trains only what is missing. The times of steps are measured first, for
    all tasks, and stored: later calls may share the machine.

    Args:
        tasks: The tasks.
        activations: Names of arms, or `FILE.py:CLASS`; none stand for all.
        seeds: Seeds that are scored instead of those of the tasks.
        quick: Whether to train a small form, which shows only that everything works.
        output: Folder of reports, tables and pictures.
        only_measure: Whether to stop after the times.
        train: Whether to train at all; otherwise only what is there is shown.
        tabular: Files of reports of `keras-vaf reproduce --protocol ours`, or folders
            of them, from which tasks 1 and 2 are read. They have no form at equal time.
        say: Called with a line for each group that is trained.

    Returns:
        The tables at equal steps and at equal time, of all datasets that are complete.
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
            run.forget()
    if train and not only_measure:
        for run in runs:
            run.run(BUDGETS)
    shown = [dataclasses.replace(run, train=False) for run in runs]
    rows = {b: [row for run in shown for row in map_rows(run, b)] for b in BUDGETS}
    tables = tabular_rows(tabular)
    rows["steps"] = [*tables, *rows["steps"]]
    every = {"steps": (*tabular_tasks(tables), *tasks), "time": tasks}
    return {
        budget: _written(each, every[budget], folder, budget)
        for budget, each in rows.items()
        if each
    }


def _written(
    rows: Sequence[MapRow], tasks: Sequence[Task], folder: Path, budget: str
) -> Table:
    folder.mkdir(parents=True, exist_ok=True)
    table = map_table(rows, tasks)
    write_atomically(folder / f"map-{budget}.md", table.markdown)
    write_atomically(folder / f"map-{budget}.png", png_bytes(map_figure(rows, tasks)))
    return table
