"""Spreadsheets: `.xls` and `.xlsx`."""

import io
from collections.abc import Iterable, Sequence
from typing import Any

from keras_vaf.datasets.parsers.table import Table, make_table, problem
from keras_vaf.utils import require

# Of the container that older workbooks are kept in; newer ones are ZIP archives.
_XLS_SIGNATURE = bytes.fromhex("d0cf11e0a1b11ae1")


def read_workbook(
    content: bytes,
    file: str,
    sheet: str | None = None,
    first_row: int = 1,
    first_column: int = 1,
    names: Sequence[str] | None = None,
) -> Table:
    """Read a table from a sheet, up to its first empty row.

    Args:
        content: The bytes of the file.
        file: Name of the file, for error messages.
        sheet: Name of the sheet; the first one if `None`.
        first_row: Number of the row with the names of the columns, from 1. A column
            without a name is left out.
        first_column: Number of the first column of the table, from 1.
        names: The columns to read; all of them if `None`.

    Returns:
        The table.

    Raises:
        ValueError: If the file is not such a workbook.
        ImportError: If the package that reads workbooks is not installed.
    """
    rows = [row[first_column - 1 :] for row in _cells(content, file, sheet)]
    rows = rows[first_row - 1 :]
    if not rows:
        raise problem(file, first_row, "expected the names of the columns")
    header = [_text(cell) for cell in rows[0]]
    kept = names or [name for name in header if name]
    if absent := sorted(set(kept) - set(header)):
        raise problem(file, first_row, f"expected columns {absent}. Received: {header}")
    columns = [header.index(name) for name in kept]
    records = []
    for line, row in enumerate(rows[1:], start=first_row + 1):
        cells = [_text(cell) for cell in row]
        if not any(cells):
            break
        records.append((line, [cells[column] for column in columns]))
    return make_table(file, kept, records)


def _cells(content: bytes, file: str, sheet: str | None) -> Iterable[Sequence[Any]]:
    read = _read_xls if content.startswith(_XLS_SIGNATURE) else _read_xlsx
    try:
        return read(content, sheet)
    except ImportError:
        raise
    except Exception as error:  # On a broken file the readers raise anything.
        raise problem(
            file,
            1,
            f"expected a workbook. Received: {type(error).__name__}: {error}",
        ) from error


def _read_xlsx(content: bytes, sheet: str | None) -> list[Sequence[Any]]:
    openpyxl = require("openpyxl", extra="data")
    workbook = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    table = workbook.worksheets[0] if sheet is None else workbook[sheet]
    return [
        ["" if cell is None else cell for cell in row]
        for row in table.iter_rows(values_only=True)
    ]


def _read_xls(content: bytes, sheet: str | None) -> list[Sequence[Any]]:
    xlrd = require("xlrd", extra="data")
    # What xlrd has to say of a file goes to a log, not to the user's terminal.
    workbook = xlrd.open_workbook(file_contents=content, logfile=io.StringIO())
    table = workbook.sheet_by_index(0) if sheet is None else workbook[sheet]
    return [table.row_values(row) for row in range(table.nrows)]


def _text(cell: Any) -> str:
    """Return a cell as text; whole numbers, which workbooks hold as floats, as such."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
