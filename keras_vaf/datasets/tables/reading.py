"""Read a user's own table from a file or from pandas: `read_table`."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.tables.csv_file import CsvFile, CsvOptions
from keras_vaf.datasets.tables.frames import encode_frame
from keras_vaf.datasets.tables.roles import DateOrder, Roles
from keras_vaf.datasets.tables.workbooks import check_extent
from keras_vaf.utils import require

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
    """Read a table, and decide what its columns hold.

    Every column but the target is an input. A column of numbers stays one. Text becomes
    a category, true and false (or yes and no) become 1 and 0, and a date becomes the
    number of days since 1970-01-01. Columns without information are left out: those of
    a single value, and those of text that differs in most rows, such as names and
    identifiers. `Dataset.notes` says what was decided.

    Rows without any entry, and rows without a target, are left out.

    Args:
        source: A pandas `DataFrame`, or the path of a file: Parquet (`.parquet`), Excel
            (`.xlsx`, `.xls`, `.ods`), or else text with a header line and separated
            cells (CSV).
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. `None` takes text, and whole numbers
            of at most 20 different values, as classes.
        categories: Names of input columns that hold categories, such as numbers that
            have no order.
        ignore: Names of columns that are not inputs.
        groups: Name of a column, such as a patient. Rows of equal entries stay together
            in a fold. The column is not an input.
        time: Name of a column, such as a date. Folds are tested on rows that are later
            than those that they are trained on. The column is not an input.
        dates: What comes first in dates such as 1/2/2024: `"day-first"` or
            `"month-first"`.
        allow_missing: Whether entries may be missing. If not, they are an error.
        separator: Character between the cells of a text file. `None` takes the comma,
            semicolon, tab or bar, whichever the header has most of.
        decimal: Decimal mark of a text file. `None` takes the comma if cells look like
            it and are not separated by commas, else the point.
        encoding: Encoding of a text file. `None` is UTF-8, or UTF-16 with its mark.
        na: Further words that stand for a missing entry, besides the empty cell, `?`,
            `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.
        sheet: Name or number of an Excel sheet.

    Returns:
        The dataset. Classes and categories are sorted as numbers if all their names
        are numbers, else by name.

    Raises:
        TableError: If columns cannot be used. The message lists all of them, with the
            line and the cell, and the arguments that solve it.
        ValueError: If the file is not a table, or an argument is none of the choices.
        FileNotFoundError: If the file does not exist.
        ImportError: If pandas, or what pandas needs for the file, is not installed.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_table("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
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
    )
    options = CsvOptions(separator, decimal, encoding, tuple(na))
    if not isinstance(source, str | os.PathLike):
        return encode_frame(source, "the table", "table", "a pandas table", roles)
    path = Path(source)
    if path.suffix.lower() in BINARY:
        frame = read_binary(path, sheet)
        return encode_frame(frame, path.name, path.stem, str(path), roles)
    file = CsvFile(path, options)
    frame = _read_csv(file, roles)
    dataset = encode_frame(
        frame, path.name, path.stem, str(path), roles, look_up=file.cells_of
    )
    first, *others = dataset.notes
    first = f"{first.rstrip('.')} ({file.description})."
    return replace(dataset, notes=(first, *others))


BINARY = (".parquet", ".pq", ".xlsx", ".xlsm", ".xls", ".ods")
"""Endings of files that pandas reads without options."""

TABLES = (*BINARY, ".csv", ".tsv")
"""Endings of files that are tables."""


def read_binary(path: Path, sheet: str | int = 0) -> "DataFrame":
    """Read a Parquet or Excel file.

    Args:
        path: The file.
        sheet: Name or number of an Excel sheet.

    Raises:
        ValueError: If it is not such a file.
        ImportError: If pandas, or what it needs for such a file, is not installed.
    """
    pandas = require("pandas", extra="experiments")
    path.open("rb").close()  # an error about the file, before one about packages
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pandas.read_parquet(path)
        with pandas.ExcelFile(path) as book:
            check_extent(book, sheet, path.stat().st_size)
            return pandas.read_excel(book, sheet_name=sheet)
    except ImportError as error:
        package = "pyarrow" if "parquet" in path.suffix else "openpyxl"
        raise ImportError(
            f"pandas needs another package to read {path.name}. Install it with: "
            f"pip install {package}",
            name=package,
        ) from error
    except Exception as error:  # of the package that reads the format
        raise ValueError(f"{path.name}: expected a table. {error}") from error


def _read_csv(file: CsvFile, roles: Roles) -> "DataFrame":
    """Read a text file; a target of labels stays as it is written."""
    target, text = roles.target, {*roles.categories}
    if roles.groups is not None:
        text.add(roles.groups)
    decimals = file.decimal == "," or file.starts_with_decimal(target)
    if roles.task == "classification" or not decimals:
        text.add(target)  # pandas reads numbers faster than text
    frame = file.read_frame(as_text=text)
    if target in frame and target not in text and frame[target].dtype.kind not in "fi":
        frame = file.read_frame(as_text={*text, target})
    return frame
