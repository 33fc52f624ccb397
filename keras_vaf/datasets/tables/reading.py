"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.date_formats import DateOrder
from keras_vaf.datasets.tables.frames import encode_frame
from keras_vaf.datasets.tables.inference import Roles
from keras_vaf.datasets.tables.number_formats import are_codes
from keras_vaf.datasets.tables.sources import open_table

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
    allow_missing: bool = True,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    sheet: str | int = 0,
) -> Dataset:
    """Read a table and decide how its columns are used.

    Every column except the target is an input. Numbers are used as they are. Text
    becomes a category, and so do whole numbers with leading zeros, such as 01067. True
    and false (or yes and no) become 1 and 0, and a date becomes the number of days
    since 1970-01-01. Columns without information are left out: columns with a single
    value, and columns of text that differs in most rows, such as names and identifiers.
    `Dataset.notes` lists all decisions.

    Rows without any entry and rows without a target are left out.

    Args:
        source: A pandas `DataFrame`, or the path of a file: Parquet (`.parquet`), a
            workbook (`.xlsx`, `.xls`, `.ods`), or otherwise CSV text with a header
            line.
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
        allow_missing: Whether entries may be missing. If false, missing entries raise
            an error.
        separator: Character between the cells of a text file. `None` selects comma,
            semicolon, tab or bar, whichever is most frequent in the header.
        decimal: Decimal mark of numbers in text. `None` selects the comma if the cells
            of a text file look like it and are not separated by commas, and otherwise
            the point.
        encoding: Encoding of a text file. `None` means UTF-8, or UTF-16 if the file has
            its byte order mark.
        na: Additional words that stand for a missing entry, besides the empty cell,
            `?`, `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.
        sheet: Name or number of an Excel sheet.

    Returns:
        The dataset. Classes and categories are sorted by number if all their names are
        numbers, and otherwise by name.

    Raises:
        TableError: If columns cannot be used. The message lists all such columns, with
            line and cell, and the arguments that solve the problem.
        ValueError: If the file is not a table, or if an argument is not one of the
            choices.
        FileNotFoundError: If the file does not exist.
        ImportError: If pandas, or a package that pandas needs for the file, is not
            installed.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    roles = Roles(
        *(target, task, tuple(categories), tuple(ignore), groups, time, dates),
        *(allow_missing, tuple(na), decimal),
    )
    table = open_table(
        source,
        lambda file: _read_csv(file, roles),
        roles.named,
        sheet,
        decimal,
        na,
        separator=separator,
        encoding=encoding,
    )
    if table.file is not None and table.decimal == ",":
        roles = replace(roles, likely_decimal=",")
    return encode_frame(table, roles)


def _read_csv(file: CsvFile, roles: Roles) -> "DataFrame":
    """Read a CSV file. A target of labels stays text, and so do numbers like 01067."""
    target, text = roles.target, {*roles.categories}
    if roles.groups is not None:
        text.add(roles.groups)
    decimals = file.decimal == "," or file.starts_with_decimal(target)
    if roles.task == "classification" or not decimals:
        text.add(target)  # pandas reads numbers faster than text
    frame = file.read_frame(as_text=text)
    again = file.perhaps_codes(frame, {target})
    if target in frame and target not in text and frame[target].dtype.kind not in "fi":
        again.add(target)
    if not again:
        return frame
    texts = file.read_frame(as_text=again, only=again)
    codes = {
        name
        for name in again
        if name == target or are_codes(texts[name].dropna().unique())
    }
    return frame.assign(**{name: texts[name] for name in codes})
