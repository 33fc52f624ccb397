"""`read_sheet`, which reads a sheet of a workbook with python-calamine."""

import contextlib
import itertools
import re
import zipfile
from pathlib import Path
from typing import Any

from keras_vaf.utils import require

_FEW_CELLS = 2**21
_PERCENT = re.compile(rb'<xf [^>]*numFmtId="(9|10)"|formatCode="[^"]*%')


def read_sheet(path: Path, sheet: str | int) -> tuple[list[list[Any]], list[str]]:
    """Return the rows of a sheet, and the names of the other sheets.

    Numbers that the sheet shows as percentages become texts such as `5 %`.

    Args:
        path: Path of the workbook.
        sheet: Name or number of the sheet.

    Raises:
        ValueError: If cells are far from the table.
    """
    calamine = require("python_calamine", extra="experiments")
    zipped = path.suffix.lower() in (".xlsx", ".xlsm")
    if zipped:
        _check_extent(path)
    book = calamine.load_workbook(path)
    name = sheet if isinstance(sheet, str) else book.sheet_names[sheet]
    page = book.get_sheet_by_name(name)
    _check_size(path, page.total_height, page.total_width)
    rows = page.to_python(skip_empty_area=False) or [[]]
    if zipped:
        _write_percents(path, name, rows)
    return rows, [other for other in book.sheet_names if other != name]


def _check_extent(path: Path) -> None:
    """Check the last cells of all sheets, before the cells between them take memory."""
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if name.startswith("xl/worksheets/sheet"):
                cells = {*re.findall(rb' r="([A-Z]+)(\d+)"', book.read(name))}
                columns = rows = 0
                for letters, row in cells:
                    powers = enumerate(reversed(letters))
                    place = sum((n - 64) * 26**power for power, n in powers)
                    columns, rows = max(columns, place), max(rows, int(row))
                _check_size(path, rows, columns)


def _check_size(path: Path, rows: int, columns: int) -> None:
    if rows * columns > max(_FEW_CELLS, 100 * path.stat().st_size):
        raise ValueError(
            f"The sheet has {rows} rows and {columns} columns, and nearly "
            "all of its cells are empty. Remove the cells that are far from the table."
        )


def _write_percents(path: Path, sheet: str, rows: list[list[Any]]) -> None:
    """Write numbers that a sheet shows as percentages as such: 0.05 as 5 %."""
    with zipfile.ZipFile(path) as book:
        if not _PERCENT.search(book.read("xl/styles.xml")):
            return
    openpyxl = require("openpyxl", extra="experiments")
    with contextlib.closing(openpyxl.load_workbook(path, read_only=True)) as found:
        for cell in itertools.chain.from_iterable(found[sheet].iter_rows()):
            if isinstance(cell.value, int | float) and "%" in cell.number_format:
                text = f"{cell.value * 100:.10f}".rstrip("0").rstrip(".")
                rows[cell.row - 1][cell.column - 1] = f"{text} %"
