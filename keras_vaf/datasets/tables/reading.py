"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES
from keras_vaf.datasets.tables.columns import Column, TableError, infer, refusal
from keras_vaf.datasets.tables.files import Table, listed, open_table
from keras_vaf.utils import check_choice, check_kind, readable, visible

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEW_TEXTS = 20  # They are not identifiers, even if they differ in most rows.
_TITLES = {
    "number": "Numbers",
    "category": f"Categories (the {MOST_CATEGORIES} most frequent get an input)",
    "boolean": "True or false, as 1 and 0",
    "date": "Dates, as days since 1970-01-01",
}


def read_table(
    source: "str | os.PathLike[str] | DataFrame",
    target: str,
    task: Task | None = None,
    categories: Sequence[str] = (),
    ignore: Sequence[str] = (),
    *,
    groups: str | None = None,
    time: str | None = None,
    dates: Literal["day-first", "month-first"] | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    sheet: str | int | None = None,
    header: bool = True,
) -> Dataset:
    """Read a table and decide how its columns are used.

    Every column except the target is an input: a number, a category (text, and whole
    numbers with leading zeros), 1 or 0 for true or false, or the days of a date since
    1970-01-01. Left out are rows without a target, columns with a single value, and
    text that differs in most rows. `Dataset.notes` lists all decisions.

    Args:
        source: A pandas `DataFrame`, or the path of a file: Parquet (`.parquet`), a
            workbook (`.xlsx`, `.xls`), or CSV text, perhaps in a `.gz` file.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. With `None`, targets are classes if
            they are text, or whole numbers with at most 20 different values.
        categories: Names of columns that contain categories, such as numbers.
        ignore: Names of columns that are not inputs.
        groups: Name of a column, such as a patient number, that is not an input. Rows
            with equal entries stay in the same fold.
        time: Name of a column, such as a date, that is not an input. Test rows of a
            fold are later than its training rows.
        dates: `"day-first"` or `"month-first"`, for dates such as 1/2/2024.
        separator: Character between the cells of a CSV file. `None` selects comma,
            semicolon, tab or bar, whichever is most frequent in the header.
        decimal: Decimal mark of numbers in text, `"."` or `","`. `None` selects the
            comma if cells of a CSV file look like it and are not separated by commas.
        encoding: Encoding of a CSV file. `None` means UTF-8, or UTF-16 with a mark.
        na: Words that stand for a missing entry, besides the empty cell, `?`, `NA`,
            `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.
        sheet: Name or number of a sheet of a workbook. `None` means the first.
        header: Whether the first row of a file holds the names of the columns, which
            are otherwise 1, 2, 3 and so on.

    Raises:
        TableError: If columns cannot be used. The message lists all of them, with a row
            and a cell, and the options that help.
        ValueError: If an argument is not one of the choices.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    check_choice("task", task or "regression", get_args(Task))
    check_choice("dates", dates or "day-first", ("day-first", "month-first"))
    check_kind("target", target, str)
    if target in (groups, time, *categories, *ignore) or (groups and time):
        raise ValueError(
            "Rows are split by `groups` or by `time`. The target has no other role. "
            f"Received: {target=}, {groups=}, {time=}, {categories=}, {ignore=}"
        )
    form = {"separator": separator, "encoding": encoding, "sheet": sheet}
    table = open_table(source, decimal, header, **form)
    roles = dict.fromkeys(categories, "a category") | dict.fromkeys(ignore, "ignored")
    roles |= {n: use for n, use in ((groups, "the groups"), (time, "the time")) if n}
    roles[target] = "the target"
    rows = np.full(len(table.frame), True)  # those with a target
    used, left_out = {}, {}

    def use(name: str) -> None:
        cells, role = table.cells(name, na)[rows], roles.get(name, "")
        if role == "ignored":
            return
        column = infer(cells, role, task, table.decimal, decimal is not None, dates)
        values = column.read(cells, table.decimal)
        if reason := _left_out(column, values, role, cells):
            left_out[name] = reason
            return
        if name == target:
            rows[:] = ~np.isnan(values)
            values = values[rows]
        used[name] = replace(column, na=tuple(na)), values

    table.each(use, dict.fromkeys([target, *table.frame, *roles]))
    goal, y = used.pop(target)
    group, times = (used.pop(name)[1] if name else None for name in (groups, time))
    if not used:
        raise TableError(
            f"{table.name}: expected a column besides the target that varies. "
            f"Received: {listed([*left_out]) or 'none'}"
        )
    columns, x = zip(*used.values(), strict=True)
    dataset = Dataset(
        name=re.sub(r"\.[^.]*(\.gz)?$", "", table.name.removeprefix("the ")),
        task="classification" if goal.names else "regression",
        x=np.stack(x).T,
        y=y.astype(np.int64) if goal.names else y,
        feature_names=tuple(used),
        class_names=goal.names or None,
        categories={n: c.names for n, c in enumerate(columns) if c.kind == "category"},
        source=table.name,
        columns=columns,
        target=target,
        groups=None if group is None else np.nan_to_num(group, nan=-1).astype(np.int64),
        times=times,
    )
    return replace(dataset, notes=tuple(map(visible, _notes(dataset, table, left_out))))


def _left_out(column: Column, values: np.ndarray, role: str, cells: "Series") -> str:
    """Return why a column is not an input, or raise an error if its role needs more."""
    missing = np.isnan(values)
    differs = len(column.names) > max(_FEW_TEXTS, (~missing).sum() // 2)
    varies = np.fmin.reduce(values) < np.fmax.reduce(values)
    if role == "the target" and (differs or not varies):
        must = "is the target and needs different numbers, or classes of several rows"
        raise refusal(cells, must)
    odd = missing | (column.kind not in ("number", "date"))
    if role == "the time" and odd.any():
        must = "is the time and must hold a number or a date in each row"
        raise refusal(cells[odd], must)
    if role not in ("", "a category"):
        return ""
    if column.name.startswith("Unnamed: "):
        return "it has no name"
    if differs and not role:
        return "its text differs in most rows, as an identifier"
    return "" if varies else "it has one value, or none"


def _notes(data: Dataset, table: Table, left_out: Mapping[str, str]) -> Iterator[str]:
    """Yield the decisions about a table, one sentence per decision."""
    form = f", separator {table.separator!r}, {table.encoding}" * bool(table.separator)
    rows = f"{len(data.x):,} of {len(table.frame):,} rows have a target"
    yield f"{table.name}: {rows} (decimal mark {table.decimal!r}{form})."
    low, high = readable(float(data.y.min())), readable(float(data.y.max()))
    names = data.class_names
    goal = f"{len(names)} classes, {listed(names)}" if names else f"{low} to {high}"
    yield f"Target {data.target!r}: {data.task}, {goal} (see `--task`)."
    for kind, title in _TITLES.items():
        found = [
            f"{c.name} ({detail})" if (detail := len(c.names) or c.format) else c.name
            for c in data.columns
            if c.kind == kind
        ]
        if found:
            yield f"{title}: {listed(found)}."
    missing = zip(data.feature_names, np.isnan(data.x).sum(axis=0), strict=True)
    if filled := [f"{name} ({count:,})" for name, count in missing if count]:
        yield f"Missing entries, filled in from the training rows: {listed(filled)}."
    for name, why in left_out.items():
        yield f"Left out column {name!r}: {why}."
    for column, values in zip(data.columns, data.x.T, strict=True):
        dates = column.kind == "date" and data.times is None
        if dates and (np.diff(values) >= 0).all():
            use = f"use `--time {column.name}` if later rows are to be predicted"
            yield f"Warning: the dates of column {column.name!r} increase; {use}."
