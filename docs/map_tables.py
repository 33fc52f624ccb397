"""Results of the map, made from its committed reports."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import report_files
from matplotlib.figure import Figure

from keras_vaf.experiments.results.notes import p_value
from keras_vaf.research.map.figure import map_figure
from keras_vaf.research.map.making import BUDGETS, read_map
from keras_vaf.research.map.report import unpack
from keras_vaf.research.map.results import (
    MapRow,
    TaskGain,
    gains_of_tasks,
)
from keras_vaf.research.map.running import Budget
from keras_vaf.research.map.summary import map_summary
from keras_vaf.research.map.tables import map_table, verdicts
from keras_vaf.research.map.task import Task
from keras_vaf.utils import png_bytes
from keras_vaf.utils.text import markdown_table
from keras_vaf.visualization import style

Rows = dict[Budget, list[MapRow]]
Tasks = dict[Budget, tuple[Task, ...]]

_TICKS = (0.25, 0.5, 1, 2, 4)
_TITLES: dict[Budget, str] = {"steps": "Equal steps", "time": "Equal time"}


def map_files() -> dict[str, bytes | str]:
    """Return the pictures and the full tables of the map, by their paths."""
    rows, tasks = _results(report_files.REPORTS)
    files: dict[str, bytes | str] = {}
    for budget in BUDGETS:
        for task in _run(rows[budget], tasks[budget]):
            figure = map_figure(rows[budget], [task])
            files[_picture(task, budget)] = png_bytes(figure)
        if rows[budget]:
            table = map_table(rows[budget], tasks[budget]).markdown
            files[f"reports/map/map-{budget}.md"] = table
    if any(rows.values()):
        files["images/map/overview.png"] = png_bytes(_overview_figure(rows, tasks))
    return files


@style.styled
def _overview_figure(rows: Rows, tasks: Tasks) -> Figure:
    """Return a picture of the ratio of errors of each task, with its interval."""
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(8, 3.4))
    titles = [task.title for task in _run(rows["steps"], tasks["steps"])]
    for ax, budget in zip(axes, BUDGETS, strict=True):
        gains = gains_of_tasks(rows[budget], tasks[budget])
        for task in tasks[budget]:
            if task.name in gains and task.title in titles:
                each, place = gains[task.name].gain, titles.index(task.title)
                color = style.BLUE
                if gains[task.name].is_significant:
                    color = style.ORANGE
                ax.plot(each.interval, [place, place], color=color, linewidth=2)
                ax.plot(each.ratio, place, "o", color=color)
        ax.axvline(1, color="gray", linewidth=0.8)
        ax.set(xscale="log", title=_TITLES[budget])
        ax.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        ax.minorticks_off()
    axes[0].set_yticks(range(len(titles)), titles)
    axes[0].invert_yaxis()
    figure.supxlabel("error of the VAF / error of the fixed function", fontsize=9)
    return figure


def map_results() -> str:
    """A section for each task with results."""
    rows, tasks = _results(report_files.REPORTS)
    shown = _run(rows["steps"], tasks["steps"])
    return "\n\n".join(_section(task, rows, tasks) for task in shown)


def map_losses() -> str:
    """A sentence on the significant gains and losses of VAFs at equal time."""
    rows, tasks = _results(report_files.REPORTS)
    gains = gains_of_tasks(rows["time"], tasks["time"])
    tested = [task for task in tasks["time"] if task.name in gains and task.counts]
    significant = [task for task in tested if gains[task.name].is_significant]
    better = [t.title for t in significant if gains[t.name].gain.mean > 0]
    worse = [t.title for t in significant if gains[t.name].gain.mean < 0]
    return (
        f"On {len(tested)} other kinds of tasks, in small networks and at equal time, "
        f"the selected VAF has a significantly larger error than the selected fixed "
        f"function on {_listed(worse)}, and a significantly smaller one on "
        f"{_listed(better)}."
    )


def _listed(titles: Sequence[str]) -> str:
    return f"{len(titles)} ({'; '.join(titles)})" if titles else "none"


def _run(rows: Sequence[MapRow], tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that have results."""
    return [task for task in tasks if any(row.task == task.name for row in rows)]


def _picture(task: Task, budget: Budget) -> str:
    return f"images/map/{task.name}-{budget}.png"


def map_overview() -> str:
    """A table with a line for each task, and the number of wins."""
    rows, tasks = _results(report_files.REPORTS)
    if not any(rows.values()):
        return "No task has been run."
    gains = {each: gains_of_tasks(rows[each], tasks[each]) for each in BUDGETS}
    lines = []
    for task in tasks["steps"]:
        cells = [_ratio(gains[budget].get(task.name)) for budget in BUDGETS]
        link = f"[{task.title}](#task-{task.name})"
        lines.append([link if task.name in gains["steps"] else task.title, *cells])
    table = markdown_table(["task", *_TITLES.values()], lines, 1)
    wins = [
        f"- {_TITLES[budget]}: {verdicts(rows[budget], tasks[budget])[-1]} "
        f"[All errors, step times and compilation times]"
        f"(reports/map/map-{budget}.md)."
        for budget in BUDGETS
        if rows[budget]
    ]
    return table + "\n\n" + "\n".join(wins)


def _ratio(each: TaskGain | None) -> str:
    """Return the cell of a task: the ratio of errors, its interval and its p-value."""
    if each is None:
        return "not run"
    if each.p_value is None:
        return f"{each.gain.ratio_text}, not tested"
    cell = f"{each.gain.ratio_text}, p {p_value(each.p_value)}"
    return f"**{cell}**" if each.is_significant else cell


def _section(task: Task, rows: Rows, tasks: Tasks) -> str:
    """Return the chosen activations, the verdicts and the pictures of a task."""
    summary = map_summary(rows, [task])
    kept = [
        place
        for place, column in enumerate(summary.columns)
        if column != "task" and any(line[place] for line in summary.lines)
    ]
    lines = [[line[place] for place in kept] for line in summary.lines]
    columns = [summary.columns[place] for place in kept]
    parts = [
        f"### {task.title} {{#task-{task.name}}}",
        markdown_table(columns, lines, 4),
    ]
    for budget in BUDGETS:
        if _run(rows[budget], [task]):
            place = [each.name for each in tasks[budget]].index(task.name)
            verdict = verdicts(rows[budget], tasks[budget])[place]
            parts += [
                f"**{_TITLES[budget]}.** {verdict}",
                f"![{task.title}: gain of each activation on each dataset, at "
                f"{_TITLES[budget].lower()}]({_picture(task, budget)})",
            ]
    return "\n\n".join(parts)


def map_verdict(name: str) -> str:
    """Return the verdict of one task at equal steps and at equal time.

    Args:
        name: Name of the task.
    """
    rows, tasks = _results(report_files.REPORTS)
    lines = []
    for budget in BUDGETS:
        place = [task.name for task in tasks[budget]].index(name)
        sentence = verdicts(rows[budget], tasks[budget])[place]
        lines.append(f"- **{_TITLES[budget]}.** {sentence}")
    return "\n".join(lines)


@functools.cache
def _results(reports: Path) -> tuple[Rows, Tasks]:
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(reports.glob("map/*.json.gz")):
            unpack(file, Path(folder))
        return read_map(folder, tabular=_tabular(reports))


def _tabular(reports: Path):
    return [
        report
        for task in ("regression", "classification")
        for path in sorted(reports.glob(f"reproduction/{task}-ours-*.json.xz"))
        for report in report_files.reports_of(path)
    ]


TABLES = (map_overview, map_results, map_losses)
