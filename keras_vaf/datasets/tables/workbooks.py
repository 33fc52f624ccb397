"""`check_extent`, which raises for a sheet that is far larger than its file."""

from typing import Any

_CELLS = 2**21
_CELLS_PER_BYTE = 100


def check_extent(book: Any, sheet: str | int, size: int) -> None:
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
