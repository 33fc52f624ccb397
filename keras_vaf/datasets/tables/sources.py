"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.problems import (
    MOST_LISTED,
    Odd,
    TableError,
    listed,
    merged,
)
from keras_vaf.utils import did_you_mean, require

if TYPE_CHECKING:
    from pandas import DataFrame

BINARY = (".parquet", ".pq", ".xlsx", ".xlsm", ".xls", ".ods")
"""Extensions of files that pandas reads without options."""

TABLES = (*BINARY, ".csv", ".tsv")
"""Extensions of all files that are tables."""

_CELLS = 2**21
_CELLS_PER_BYTE = 100


@dataclass(frozen=True)
class Table:
    """A table that is open.

    Attributes:
        frame: A pandas `DataFrame`, or a dictionary from column names to sequences.
        path: Path of its file.
        file: The file, if it is CSV text.
        decimal: Decimal mark of numbers in text; `None` means the point.
        na: Additional words that stand for a missing entry.
    """

    frame: Any
    path: Path | None = None
    file: CsvFile | None = None
    decimal: str | None = None
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise a `ValueError` if two columns have the same name."""
        counts = Counter(self.names)
        if repeated := sorted(name for name, count in counts.items() if count > 1):
            place = self.name if self.file is None else f"{self.name}, line 1"
            raise ValueError(
                f"{place}: column names must differ; rename or remove columns. "
                f"Received twice: {repeated}"
            )

    @property
    def name(self) -> str:
        """Name of the table for messages."""
        return "the table" if self.path is None else self.path.name

    @property
    def names(self) -> list[str]:
        """Names of all columns of the table."""
        return [*map(str, self.frame)] if self.file is None else self.file.columns

    @property
    def columns(self) -> str:
        """Its columns as the end of an error message."""
        hint = ""
        if self.file is not None and len(self.names) == 1:
            hint = " Are its cells separated by another character (`separator`)?"
        elif sheets := getattr(self.frame, "attrs", {}).get("sheets"):
            hint = f" Other sheets of the file (`sheet`): {listed(sheets)}."
        return f"{listed(self.names) or 'none'}.{hint}"

    def check(self, uses: Mapping[str, str]) -> None:
        """Raise an error if the table lacks a column.

        Args:
            uses: The use of each column that the table must have.

        Raises:
            TableError: If another separator gives the columns.
            ValueError: If none does.
        """
        self.check_separator(uses)
        for name, use in uses.items():
            if name not in self.names:
                raise ValueError(
                    f"{self.name} has no column {name!r} to use as {use}."
                    f"{did_you_mean(name, self.names)} Name one of its columns: "
                    f"{self.columns}"
                )

    def check_separator(self, wanted: Collection[str]) -> None:
        """Raise a `TableError` if another separator of a file gives these columns."""
        if self.file is None or len(self.names) != 1 or not wanted:
            return
        [header] = self.names
        for mark in dict.fromkeys(header):
            parts = {part.strip() for part in header.split(mark)}
            if not mark.isalnum() and mark not in '_"' and {*wanted} <= parts:
                raise TableError(
                    f"{self.name}: expected cells separated by {mark!r}. "
                    f"Received: one column {header!r}",
                    {"separator": mark},
                )

    def error(self, odd: Sequence[Odd], note: str = "") -> TableError:
        """Return one error with everything odd, and a note at its end."""
        rows = {each.row for each in odd if each.row is not None}
        found = self.file.cells_of(rows) if self.file is not None and rows else {}
        lines = [
            each.sentence(*found.get(each.row, (f"row {each.row}", {})))
            for each in odd[:MOST_LISTED]
        ]
        if len(odd) > MOST_LISTED:
            lines.append(f"and {len(odd) - MOST_LISTED} more columns")
        text = "\n".join([f"{self.name}: {len(odd)} columns cannot be used.", *lines])
        if len(odd) == 1:
            text = f"{self.name}{': ' if odd[0].row is None else ', '}{lines[0]}"
        if note:
            text = f"{text}\n{note}"
        count = sum(bool(each.fix) for each in odd)
        solves = f"{count} of these {len(odd)}" if count < len(odd) else ""
        return TableError(text, merged(each.fix for each in odd), solves)


def open_table(
    source: "str | os.PathLike[str] | DataFrame",
    read: "Callable[[CsvFile], DataFrame]",
    uses: Mapping[str, str],
    sheet: str | int,
    decimal: str | None,
    na: Sequence[str],
    **options: Any,
) -> Table:
    """Open a table.

    Args:
        source: A pandas `DataFrame`, or the path of a file.
        read: Function that reads a CSV file.
        uses: The use of each column that the table must have.
        sheet, decimal, na: As in `read_table`.
        **options: Separator and encoding of a CSV file.

    Raises:
        ValueError: If the source is not a table, lacks a column, or has two columns of
            the same name, or if an argument is not an option.
        FileNotFoundError: If the file does not exist.
        ImportError: If a package that reads the file is not installed.
    """
    na = tuple(na)
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "columns"):
            raise ValueError(
                "`source` must be the path of a table, or a pandas DataFrame. "
                f"Received: {type(source).__name__}"
            )
        path, frame = None, source
    elif (path := Path(source)).suffix.lower() in BINARY:
        frame = _read_binary(path, sheet)
    else:
        file = CsvFile(path, decimal=decimal, na=na, **options)
        table = Table({}, path, file, file.decimal, na)
        table.check(uses)  # before pandas, which loads slowly
        return replace(table, frame=read(file))
    frame = frame.rename(columns=lambda name: str(name).strip())
    table = Table(frame, path, None, decimal, na)
    table.check(uses)
    return table


def _read_binary(path: Path, sheet: str | int) -> "DataFrame":
    """Read a Parquet or Excel file. `DataFrame.attrs["sheets"]` names other sheets."""
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


def _check_extent(book: Any, sheet: str | int, size: int) -> None:
    """Raise a `ValueError` for a sheet with a cell far away from its table.

    pandas creates a full rectangle of cells up to the last row and column. A single
    cell in the last corner of a sheet would need about 140 GB.

    Raises:
        ValueError: If the rectangle has more than two million cells and more than 100
            cells per byte of the file.
    """
    name = sheet if isinstance(sheet, str) else book.sheet_names[sheet]
    rows = columns = 0
    if book.engine == "openpyxl":
        found = book.book[name]
        found.reset_dimensions()  # The dimensions in the file may be wrong.
        found.calculate_dimension(force=True)
        rows, columns = found.max_row or 0, found.max_column or 0
    elif book.engine == "xlrd":
        found = book.book.sheet_by_name(name)
        rows, columns = found.nrows, found.ncols
    if rows * columns > max(_CELLS, _CELLS_PER_BYTE * size):
        raise ValueError(
            f"The sheet has {rows} rows and {columns} columns, and nearly all of its "
            "cells are empty. Remove the cells that are far from the table."
        )
