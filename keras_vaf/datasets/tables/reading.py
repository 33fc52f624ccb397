"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES, offset_of
from keras_vaf.datasets.tables.columns import Column, TableError, infer, refusal
from keras_vaf.datasets.tables.files import Table, listed, open_table
from keras_vaf.utils import check_choice, check_integer, check_kind, readable, visible

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEW_TEXTS = 20  # They are not identifiers, even if they differ in most rows.
_MOMENT = re.compile("(?i)(?<![a-z])(date|time|datetime|timestamp)(?![a-z])")
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
    skip: int = 0,
    keep_na: bool = False,
) -> Dataset:
    """Read a table and decide how its columns are used.

    `Dataset.notes` lists all decisions. Rows without a target are left out.

    Args:
        source: A pandas `DataFrame`, or the path of a file: Parquet (`.parquet`), a
            workbook (`.xlsx`, `.xls`), or CSV text, perhaps in a `.gz` file.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. With `None`, targets are classes if
            they are text, or few different whole numbers.
        categories: Names of columns that contain categories, such as numbers.
        ignore: Names of columns that are not inputs.
        groups: Name of a column, such as a patient number, that is not an input. Rows
            with equal entries stay in the same fold.
        time: Name of a column, such as a date, that is not an input. Test rows of a
            fold are later than its training rows.
        dates: `"day-first"` or `"month-first"`, for dates such as 1/2/2024.
        separator: Character between the cells of a CSV file. `None` guesses it.
        decimal: Decimal mark of numbers in text, `"."` or `","`. `None` guesses it.
        encoding: Encoding of a CSV file. `None` means UTF-8, or UTF-16 with a mark.
        na: Words that stand for a missing entry. Empty cells do, too, and in text files
            and workbooks also words such as `NA`.
        sheet: Name or number of a sheet of a workbook. `None` means the first.
        header: Whether the first row of a file names the columns, else 1, 2 and so on.
        skip: Number of rows before the first, such as titles, that are left out.
        keep_na: Whether words such as `NA` are categories unless they are in `na`.

    Raises:
        TableError: If columns cannot be used. The message lists all of them.
        ValueError: If an argument is not one of the choices.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    check_choice("task", task or "regression", get_args(Task))
    check_choice("dates", dates or "day-first", ("day-first", "month-first"))
    check_kind("target", target, str, int)
    target = str(target)
    if groups and time:
        raise ValueError(
            "Rows are split by `groups` or by `time`, not by both. "
            f"Received: {groups=}, {time=}"
        )
    others = {"groups": (groups,), "time": (time,), "categories": categories}
    for role, names in (others | {"ignore": ignore}).items():
        if target in names:
            raise ValueError(
                f"The column of `target` must not be in `{role}`. Received: {target!r}"
            )
    form = {"separator": separator, "encoding": encoding, "sheet": sheet}
    form |= {"skip": check_integer("skip", skip, 0) or None, "keep_na": keep_na or None}
    table = open_table(source, decimal, header, **form)
    roles = dict.fromkeys(categories, "a category") | dict.fromkeys(ignore, "ignored")
    roles |= {n: use for n, use in ((groups, "the groups"), (time, "the time")) if n}
    roles[target] = "the target"
    rows = np.full(len(table.frame), True)  # those with a target
    used, notes = {}, []

    def use(name: str) -> None:
        cells, numbers, mark = table.cells(Column(name), na)
        cells, numbers, role = cells[rows], numbers[rows], roles.get(name, "")
        if role == "ignored":
            return
        texts = cells[np.isnan(numbers)]  # other cells have no decimal mark of a text
        form = task, mark if texts.notna().any() else "", decimal is not None, dates
        column = infer(cells, role, form)
        if column.kind == "number" and 0 < texts.count() < cells.count():
            column = replace(column, format=infer(texts, role, form).format)
        if column.kind == "category" and not role and _MOMENT.search(name):
            known = "2024-12-31, 31.12.2024 14:30 or Dec 31, 2024 2:30 PM"
            notes.append(f"Column {name!r} is text: its dates are not like {known}.")
        column = replace(column, na=(*column.na, *na), decimal=mark)
        values = column.read(cells.mask(cells.isin(column.na)), numbers, mark)
        if reason := _left_out(column, values, role, cells):
            notes.append(f"Left out column {name!r}: {reason}.")
            return
        if name == target:
            rows[:] = ~np.isnan(values)
            values, cells = values[rows], cells[rows]
        offset = offset_of(values) if column.kind in ("number", "date") else 0.0
        wide = offset and role in ("the target", "the time")
        stored = values if wide else (values - offset).astype(np.float32)
        if _merged(cells, values, stored):
            notes.append(f"Column {name!r}: some different numbers are rounded to one.")
        used[name] = replace(column, offset=offset), stored

    table.each(use, dict.fromkeys([target, *table.frame, *roles]))
    goal, y = used.pop(target)
    group, times = (used.pop(name)[1] if name else None for name in (groups, time))
    if not used:
        raise TableError(
            f"{table.name}: expected a column besides the target that varies. "
            f"Received: {listed([*table.frame])}"
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
    return replace(dataset, notes=tuple(map(visible, _notes(dataset, table, notes))))


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
    why = "its numbers are equal to 15 digits" if cells.nunique() > 1 else ""
    return "" if varies else why or "it has one value, or none"


def _merged(cells: "Series", values: np.ndarray, stored: np.ndarray) -> bool:
    """Return whether different numbers are equal once they are stored."""
    long = (cells.str.len() > 16).to_numpy(bool)  # of which a float64 loses digits
    lost = cells[long].nunique() > len(np.unique(values[long]))
    return lost or len(np.unique(values)) > len(np.unique(stored))


def _notes(data: Dataset, table: Table, others: Iterable[str]) -> Iterator[str]:
    """Yield the decisions about a table, one sentence per decision."""
    form = f", separator {table.separator!r}, {table.encoding}" * bool(table.separator)
    rows = f"{len(data.x):,} of {len(table.frame):,} rows have a target"
    yield f"{table.name}: {rows} (decimal mark {table.decimal or '.'!r}{form})."
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
    if shifted := [column.name for column in data.columns if column.offset]:
        yield f"Counted from the middle number, to keep digits: {listed(shifted)}."
    yield from others
    for column, values in zip(data.columns, data.x.T, strict=True):
        gaps = np.diff(np.sort(values))
        if column.kind == "number" and len(gaps) >= _FEW_TEXTS and (gaps == 1).all():
            use = f"use `--ignore {column.name}` if they only count the rows"
            yield f"Column {column.name!r} has consecutive numbers; {use}."
        dates = column.kind == "date" and data.times is None
        if dates and (np.diff(values) >= 0).all():
            use = f"use `--time {column.name}` if later rows are to be predicted"
            yield f"Warning: the dates of column {column.name!r} increase; {use}."
