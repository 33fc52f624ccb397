"""`check_extent` refuses a sheet that is far larger than its file."""

from typing import Any

_CELLS = 2**21
_CELLS_PER_BYTE = 100


def check_extent(book: Any, sheet: str | int, size: int) -> None:
    """Refuse a sheet with a cell far away from its table.

    pandas makes a full rectangle of cells up to the last row and column. A single cell
    in the last corner of a sheet would take about 140 GB.

    Args:
        book: A `pandas.ExcelFile`.
        sheet: Name or number of the sheet.
        size: Size of the file in bytes.

    Raises:
        ValueError: If the rectangle has more than two million cells, and more than 100
            for each byte of the file.
    """
    rows, columns = _extent(book, sheet)
    if rows * columns > max(_CELLS, _CELLS_PER_BYTE * size):
        raise ValueError(
            f"The sheet has {rows} rows and {columns} columns, and nearly all of its "
            "cells are empty. Remove the cells that are far from the table."
        )


def _extent(book: Any, sheet: str | int) -> tuple[int, int]:
    """Return the last row and the last column of a sheet that hold cells."""
    named = isinstance(sheet, str)
    if book.engine == "openpyxl":
        found = book.book[sheet] if named else book.book.worksheets[sheet]
        found.reset_dimensions()  # The file may give wrong ones.
        found.calculate_dimension(force=True)
        return found.max_row or 0, found.max_column or 0
    if book.engine == "xlrd":
        find = book.book.sheet_by_name if named else book.book.sheet_by_index
        return find(sheet).nrows, find(sheet).ncols
    return 0, 0
