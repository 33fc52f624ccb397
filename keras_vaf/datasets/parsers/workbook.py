"""Spreadsheets: `.xls` and `.xlsx`."""

import io
from collections.abc import Sequence
from typing import Any

from keras_vaf.datasets.parsers.table import Table, make_table, problem
from keras_vaf.utils import require


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
        first_row: Number of the row with the names of the columns, from 1.
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
    kept = names or header
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


def _cells(content: bytes, file: str, sheet: str | None) -> list[list[Any]]:
    calamine = require("python_calamine", extra="data")
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        if sheet is None:
            return workbook.get_sheet_by_index(0).to_python(skip_empty_area=False)
        return workbook.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    except calamine.CalamineError as error:
        raise problem(file, 1, f"expected a workbook. Received: {error}") from error


def _text(cell: Any) -> str:
    """Return a cell as text; whole numbers, which workbooks hold as floats, as such."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
