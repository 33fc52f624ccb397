"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES
from keras_vaf.datasets.tables.columns import MOST_CLASSES, Column, as_cells, infer
from keras_vaf.datasets.tables.files import (
    NUMBER,
    Table,
    TableError,
    listed,
    open_table,
)
from keras_vaf.datasets.tables.formats import DateOrder, Odd
from keras_vaf.utils import check_choice, check_kind, did_you_mean, readable, visible

if TYPE_CHECKING:
    from pandas import DataFrame

_FEWEST_IDENTIFIERS = 20  # different texts of a column of identifiers
_TITLES = {
    "number": "Numbers",
    "category": "Categories (with their number of values)",
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
    dates: DateOrder | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    sheet: str | int = 0,
    header: bool = True,
) -> Dataset:
    """Read a table and decide how its columns are used.

    Every column except the target is an input. Numbers are used as they are. Text
    becomes a category, and so do whole numbers with leading zeros, such as 01067. True
    and false (or yes and no) become 1 and 0, and a date becomes the number of days
    since 1970-01-01. Columns without information are left out: columns with a single
    value, and columns of text that differs in most rows, such as names and identifiers.
    Rows without a target are left out. `Dataset.notes` lists all decisions.

    Args:
        source: A pandas `DataFrame`, or the path of a file: Parquet (`.parquet`), a
            workbook (`.xlsx`, `.xls`, `.ods`), or CSV text, perhaps in a `.gz` file.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. With `None`, targets are classes if
            they are text, or whole numbers with at most 20 different values.
        categories: Names of columns that contain categories, such as numbers.
        ignore: Names of columns that are not inputs.
        groups: Name of a column that is not an input, such as a patient number. Rows
            with equal entries stay in the same fold.
        time: Name of a column that is not an input, such as a date. The test rows of a
            fold are later than its training rows.
        dates: `"day-first"` or `"month-first"`, for dates such as 1/2/2024.
        separator: Character between the cells of a CSV file. `None` selects comma,
            semicolon, tab or bar, whichever is most frequent in the header.
        decimal: Decimal mark of numbers in text, `"."` or `","`. `None` selects the
            comma if cells of a CSV file look like it and are not separated by commas.
        encoding: Encoding of a CSV file. `None` means UTF-8, or UTF-16 with a mark.
        na: Words that stand for a missing entry, besides the empty cell, `?`, `NA`,
            `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.
        sheet: Name or number of a sheet of a workbook.
        header: Whether the first row of a file holds the names of the columns, which
            are otherwise 1, 2, 3 and so on.

    Returns:
        The dataset. Classes and categories are sorted by number if all their names are
        numbers, and otherwise by name.

    Raises:
        TableError: If columns cannot be used. The message lists all such columns, with
            row and cell, and the options that solve the problem.
        ValueError: If an argument is not one of the choices.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    for name, value, choices in (("task", task, Task), ("dates", dates, DateOrder)):
        if value is not None:
            check_choice(name, value, get_args(choices))
    check_kind("target", target, str)
    if target in (groups, time) or (groups and time):
        raise ValueError(
            "Rows are split by `groups` or by `time`, which must be another column "
            f"than the target. Received: {groups=}, {time=}, {target=}"
        )
    table = open_table(source, separator, decimal, encoding, sheet, header)
    roles = dict.fromkeys(categories, "a category") | dict.fromkeys(ignore, "ignored")
    roles |= {n: use for n, use in ((groups, "the groups"), (time, "the time")) if n}
    roles[target] = "the target"
    _check_names(table, roles)
    frame, used, left_out, odd = table.frame, {}, {}, []
    for name in sorted(frame, key=lambda name: name != target):  # the target first
        role = roles.get(name, "")
        if role == "ignored":
            continue
        cells = as_cells(frame[name], na, table.decimal)
        try:
            column = infer(cells, role, task, decimal, table.decimal == ",", dates)
            values = column.read(cells, table.decimal)
            if reason := _left_out(column, values, role):
                left_out[name] = reason
                continue
        except Odd as problem:
            odd.append(table.sentence(cells, problem))
            continue
        if name == target:
            rows = ~np.isnan(values)
            frame, values = frame[rows], values[rows]
        used[name] = replace(column, na=tuple(na)), values
    if odd:
        raise table.refusal(odd)
    goal, y = used.pop(target)
    group, times = (used.pop(name)[1] if name else None for name in (groups, time))
    if not used:
        raise TableError(
            f"{table.name}: expected a column besides the target that varies. "
            f"Received: {listed([*left_out]) or 'none'}"
        )
    columns, x = zip(*used.values(), strict=True)
    dataset = Dataset(
        name=re.sub(r"\.[^.]*(\.gz|\.bz2)?$", "", table.name.removeprefix("the ")),
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
    notes = (*_notes(dataset, table, left_out, task), *_warnings(dataset))
    return replace(dataset, notes=tuple(map(visible, notes)))


def _check_names(table: Table, roles: Mapping[str, str]) -> None:
    names = [*table.frame]
    for name, role in roles.items():
        if name not in names:
            raise TableError(
                f"{table.name} has no column {name!r} to use as {role}."
                f"{did_you_mean(name, names)} Name one of its columns: {listed(names)}."
                " If the table has others, see `--separator` and `--sheet`."
            )
    if table.frame.empty:
        raise TableError(f"{table.name}: expected at least one row of data")


def _left_out(column: Column, values: np.ndarray, role: str) -> str:
    """Return why a column is not an input, or raise `Odd` if it cannot be used so."""
    filled, different = np.isfinite(values).sum(), len(column.names)
    varies = np.fmin.reduce(values) < np.fmax.reduce(values)
    if role == "the target" and not varies:
        raise Odd("is the target and must hold at least two different values")
    if role == "the target" and different > max(MOST_CLASSES, filled // 2):
        must = (
            "is the target and must hold numbers, or classes of several rows each; it "
            f"has {different} different texts in {filled} rows (use `--na` for those "
            "that are missing entries)"
        )
        words = [name for name in column.names if not NUMBER.fullmatch(name)]
        raise Odd(must, *words[:1])
    number = column.kind in ("number", "date") and filled == len(values)
    if role == "the time" and not number:
        must = "is the time and must hold a number or a date in each row"
        raise Odd(must, *column.names[:1])
    if role not in ("", "a category"):
        return ""
    if not role and different >= _FEWEST_IDENTIFIERS and different > filled // 2:
        return "its text differs in most rows, as an identifier"
    if column.name.startswith("Unnamed: ") and len({*values}) == len(values):
        return "it has no name and numbers the rows"
    return "" if varies else "it has one value, or none"


def _notes(
    dataset: Dataset, table: Table, left_out: Mapping[str, str], task: Task | None
) -> Iterator[str]:
    """Yield the decisions about a table, one sentence per decision."""
    rows, inputs = dataset.x.shape
    comma = "decimal comma, " * (table.decimal == ",")
    form = f" (separated by {table.separator!r}, {comma}{table.encoding})"
    form *= bool(table.separator)
    yield f"{table.name}: {rows:,} rows, {inputs} input{'s' * (inputs != 1)}{form}."
    if dropped := len(table.frame) - rows:
        yield f"Left out {dropped:,} rows without a target."
    yield f"Target {dataset.target!r}: {_target(dataset, task)}."
    for kind, title in _TITLES.items():
        found = [
            f"{c.name} ({detail})" if (detail := len(c.names) or c.format) else c.name
            for c in dataset.columns
            if c.kind == kind
        ]
        if found:
            yield f"{title}: {listed(found)}."
    missing = zip(dataset.feature_names, np.isnan(dataset.x).sum(axis=0), strict=True)
    if names := [f"{name} ({count:,})" for name, count in missing if count]:
        yield (
            f"Missing entries: {listed(names)}. Numbers are filled in by "
            "the mean of the training rows, categories by the most frequent one."
        )
    for name, why in left_out.items():
        yield f"Left out column {name!r}: {why}."


def _target(dataset: Dataset, task: Task | None) -> str:
    if (classes := dataset.class_names) is None:
        y = dataset.y.astype(np.float64)
        low, mean, high = map(readable, (y.min(), y.mean(), y.max()))
        return f"a regression, from {low} to {high}, mean {mean}"
    numbers = task is None and {*"".join(classes)} <= {*"+-.e0123456789"}
    advice = "; use `--task regression` if they are numbers to predict" * numbers
    return f"taken as {len(classes)} classes ({listed(classes)}){advice}"


def _warnings(dataset: Dataset) -> Iterator[str]:
    for column, values in zip(dataset.columns, dataset.x.T, strict=True):
        start, steps = f"Warning: column {column.name!r}", np.diff(values)
        if len(column.names) > MOST_CATEGORIES:
            yield (
                f"{start} has {len(column.names):,} categories. The {MOST_CATEGORIES} "
                "most frequent ones of the training rows get an input; the others "
                "count as unknown."
            )
        if column.kind == "number" and (steps == 1).all():
            yield f"{start} counts the rows. `--ignore` leaves it out."
        if column.kind == "date" and dataset.times is None and (steps >= 0).all():
            yield (
                f"{start} holds dates that increase. Use `--time {column.name}` if "
                "later rows are to be predicted."
            )
