"""`read_table`, which reads a user's own table from a file or from pandas."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.tables.csv_file import CsvFile, CsvOptions
from keras_vaf.datasets.tables.frames import encode_frame
from keras_vaf.datasets.tables.roles import DateOrder, Roles
from keras_vaf.datasets.tables.texts import with_points
from keras_vaf.utils import check_flag, require

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
    check_flag("allow_missing", allow_missing)
    roles = Roles(
        target,
        task,
        tuple(categories),
        tuple(ignore),
        groups,
        time,
        dates,
        allow_missing,
        tuple(na),
        decimal,
    )
    options = CsvOptions(separator, decimal, encoding, tuple(na))
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "columns"):
            raise ValueError(
                "`source` must be the path of a table, or a pandas DataFrame. "
                f"Received: {type(source).__name__}"
            )
        frame = with_points(source, decimal)
        return encode_frame(frame, "the table", "table", "a pandas table", roles)
    path = Path(source)
    if path.suffix.lower() in BINARY:
        frame = with_points(read_binary(path, sheet), decimal)
        return encode_frame(frame, path.name, path.stem, str(path), roles)
    file = CsvFile(path, options)
    roles = replace(roles, likely_decimal="," if file.decimal == "," else None)
    frame = with_points(_read_csv(file, roles), file.decimal)
    dataset = encode_frame(
        frame, path.name, path.stem, str(path), roles, look_up=file.cells_of
    )
    first, *others = dataset.notes
    first = f"{first.rstrip('.')} ({file.description})."
    return replace(dataset, notes=(first, *others))


_CELLS = 2**21
_CELLS_PER_BYTE = 100

BINARY = (".parquet", ".pq", ".xlsx", ".xlsm", ".xls", ".ods")
"""Extensions of files that pandas reads without options."""

TABLES = (*BINARY, ".csv", ".tsv")
"""Extensions of all files that are tables."""


def read_binary(path: Path, sheet: str | int = 0) -> "DataFrame":
    """Read a Parquet or Excel file.

    Args:
        path: Path of the file.
        sheet: Name or number of an Excel sheet.

    Returns:
        The table. For a workbook, `DataFrame.attrs["sheets"]` names its other sheets.

    Raises:
        ValueError: If the file is not a Parquet or Excel file.
        ImportError: If pandas, or a package that pandas needs for the file, is not
            installed.
    """
    pandas = require("pandas", extra="experiments")
    path.open("rb").close()  # errors about the file come first
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pandas.read_parquet(path)
        with pandas.ExcelFile(path) as book:
            _check_extent(book, sheet, path.stat().st_size)
            frame = pandas.read_excel(book, sheet_name=sheet)
            names = book.sheet_names
            used = sheet if isinstance(sheet, str) else names[sheet]
            frame.attrs["sheets"] = [name for name in names if name != used]
            return frame
    except ImportError as error:
        package = "pyarrow" if "parquet" in path.suffix else "openpyxl"
        raise ImportError(
            f"pandas needs another package to read {path.name}. Install it with: "
            f"pip install {package}",
            name=package,
        ) from error
    except Exception as error:  # any error of the package that reads the format
        raise ValueError(f"{path.name}: expected a table. {error}") from error


def _read_csv(file: CsvFile, roles: Roles) -> "DataFrame":
    """Read a CSV file. A target of labels stays text."""
    target, text = roles.target, {*roles.categories}
    if roles.groups is not None:
        text.add(roles.groups)
    decimals = file.decimal == "," or file.starts_with_decimal(target)
    if roles.task == "classification" or not decimals:
        text.add(target)  # pandas reads numbers faster than text
    frame = file.read_frame(as_text=text)
    if codes := file.leading_zeros(frame) - {target}:
        text |= codes
        frame = file.read_frame(as_text=text)
    if target in frame and target not in text and frame[target].dtype.kind not in "fi":
        frame = file.read_frame(as_text={*text, target})
    return frame


def _check_extent(book: Any, sheet: str | int, size: int) -> None:
    """Raise a `ValueError` for a sheet with a cell far away from its table.

    pandas creates a full rectangle of cells up to the last row and column. A single
    cell in the last corner of a sheet would need about 140 GB.

    Args:
        book: A `pandas.ExcelFile`.
        sheet: Name or number of the sheet.
        size: Size of the file in bytes.

    Raises:
        ValueError: If the rectangle has more than two million cells and more than 100
            cells per byte of the file.
    """
    rows, columns = _extent(book, sheet)
    if rows * columns > max(_CELLS, _CELLS_PER_BYTE * size):
        raise ValueError(
            f"The sheet has {rows} rows and {columns} columns, and nearly all of its "
            "cells are empty. Remove the cells that are far from the table."
        )


def _extent(book: Any, sheet: str | int) -> tuple[int, int]:
    """Return the last row and the last column of a sheet with cells."""
    named = isinstance(sheet, str)
    if book.engine == "openpyxl":
        found = book.book[sheet] if named else book.book.worksheets[sheet]
        found.reset_dimensions()  # The dimensions in the file may be wrong.
        found.calculate_dimension(force=True)
        return found.max_row or 0, found.max_column or 0
    if book.engine == "xlrd":
        find = book.book.sheet_by_name if named else book.book.sheet_by_index
        return find(sheet).nrows, find(sheet).ncols
    return 0, 0
