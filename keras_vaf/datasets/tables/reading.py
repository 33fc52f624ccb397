"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.tables.column import Cells, TableError
from keras_vaf.datasets.tables.files import listed, open_table
from keras_vaf.datasets.tables.formats import DateOrder, Odd
from keras_vaf.datasets.tables.inference import CHECKS, LeftOut, check_input, infer
from keras_vaf.datasets.tables.notes import describe
from keras_vaf.utils import check_choice, did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame


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
            workbook (`.xlsx`, `.xls`, `.ods`), or otherwise CSV text, perhaps in a
            `.gz` file.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. With `None`, targets are classes if
            they are text, or whole numbers with at most 20 different values.
        categories: Names of input columns that contain categories, such as numbers
            without an order.
        ignore: Names of columns that are not inputs.
        groups: Name of a column, such as a patient number. Rows with equal entries stay
            in the same fold. The column is not an input.
        time: Name of a column, such as a date. The test rows of a fold are later than
            its training rows. The column is not an input.
        dates: Order of day and month in dates such as 1/2/2024: `"day-first"` or
            `"month-first"`.
        separator: Character between the cells of a CSV file. `None` selects comma,
            semicolon, tab or bar, whichever is most frequent in the header.
        decimal: Decimal mark of numbers in text. `None` selects the comma if the cells
            of a CSV file look like it and are not separated by commas, and otherwise
            the point.
        encoding: Encoding of a CSV file. `None` means UTF-8, or UTF-16 if the file has
            its byte order mark.
        na: Additional words that stand for a missing entry, besides the empty cell,
            `?`, `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.
        sheet: Name or number of a sheet of a workbook.
        header: Whether the first row of a file holds the names of the columns. If not,
            they are 1, 2, 3 and so on.

    Returns:
        The dataset. Classes and categories are sorted by number if all their names are
        numbers, and otherwise by name.

    Raises:
        TableError: If columns cannot be used. The message lists all such columns, with
            line and cell, and the options that solve the problem.
        ValueError: If an argument is not one of the choices.
        FileNotFoundError: If the file does not exist.
        ImportError: If a package that reads the file is not installed.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    if task is not None:
        check_choice("task", task, get_args(Task))
    if dates is not None:
        check_choice("dates", dates, get_args(DateOrder))
    if target in (groups, time) or (groups and time):
        raise ValueError(
            "Rows are split by `groups` or by `time`, which must be another column "
            f"than the target. Received: {groups=}, {time=}, {target=}"
        )
    table = open_table(source, separator, decimal, encoding, sheet, header)
    others = dict.fromkeys(ignore, "a column to ignore")
    others |= {n: use for n, use in ((groups, "the groups"), (time, "the time")) if n}
    others[target] = "the target"
    for name, use in (dict.fromkeys(categories, "a category") | others).items():
        if name not in table.columns:
            raise TableError(
                f"{table.name} has no column {name!r} to use as {use}."
                f"{did_you_mean(name, table.columns)} Name one of its columns: "
                f"{listed([*table.columns]) or 'none'}.{table.hint}"
            )
    names = [name for name in table.columns if name not in others]
    if not names or not len(table.columns[target]):
        missing = "at least one row of data" if names else "a column besides the target"
        raise TableError(f"{table.name}: expected {missing}")
    likely = "," if table.separator and table.decimal == "," else None
    rows, found, odd, left_out = None, {}, [], {}
    for name in (target, *names, *filter(None, (groups, time))):
        cells = Cells(table.columns[name], tuple(na), table.decimal, rows)
        role = others.get(name) or ("a category" if name in categories else "an input")
        try:
            column = infer(name, cells, role, task, (decimal, likely), dates)
            values, wrong = column.read(cells)
            if wrong.any():
                raise column.problem(cells, wrong)
            CHECKS.get(role, check_input)(column, cells, values)
            found[name] = column, values
        except LeftOut as reason:
            left_out[name] = str(reason)
        except Odd as problem:
            kept = np.arange(len(cells.array)) if rows is None else rows
            odd.append(cells.sentence(name, problem, kept + table.first))
        if name == target and not odd:
            rows = np.flatnonzero(~np.isnan(values))
    if odd:
        raise TableError.of(table.name, odd)
    goal, y = found.pop(target)
    group, times = (found.pop(name)[1] if name else None for name in (groups, time))
    if not found:
        raise TableError(
            f"{table.name}: expected a column besides the target that varies. "
            f"Received: {', '.join(names)}"
        )
    columns, x = zip(*found.values(), strict=True)
    dataset = Dataset(
        name=re.sub(r"\.[^.]*(\.gz|\.bz2)?$", "", table.name.removeprefix("the ")),
        task="classification" if goal.names else "regression",
        x=np.stack(x).T,
        y=y[rows].astype(np.int64 if goal.names else np.float32),
        feature_names=tuple(found),
        class_names=goal.names or None,
        categories={n: c.names for n, c in enumerate(columns) if c.kind == "category"},
        source="a pandas table" if table.path is None else str(table.path),
        columns=tuple(replace(column, na=(*na, *column.na)) for column in columns),
        target=target,
        groups=None if group is None else np.nan_to_num(group, nan=-1).astype(np.int64),
        times=times,
    )
    notes = describe(dataset, table, left_out, len(y) - len(dataset.y), task)
    return replace(dataset, notes=notes)
