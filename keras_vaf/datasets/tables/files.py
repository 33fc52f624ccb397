"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import csv
import io
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.datasets.tables.columns import as_texts
from keras_vaf.datasets.tables.formats import Odd
from keras_vaf.utils import check_choice, require, visible

if TYPE_CHECKING:
    from pandas import DataFrame, Series

PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")

TABLES = (*PARQUET, *EXCEL, ".csv", ".tsv", ".gz", ".bz2")
"""Extensions of files that are tables. Any other file is read as CSV text."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}
_HEAD = 2**20  # characters that hold the first row
_ROWS = 100  # rows used to guess the decimal mark
_FEW_CELLS = 2**21  # of a workbook
# Not 1.234 or 1,234, which may have a mark between thousands.
_POINT = r"[+-]?([0-9]+\.([0-9]{1,2}|[0-9]{4,})|0\.[0-9]+)"
_COMMA = _POINT.replace(r"\.", ",")


class TableError(ValueError):
    """A table that cannot be used. The message lists all columns that are odd."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))


@dataclass(frozen=True)
class Table:
    """A table that is open."""

    frame: "DataFrame"
    name: str = "the table"
    first: int = 0  # number of the first row of a file, for messages
    decimal: str = "."  # of plain numbers in text
    separator: str = ""  # of a CSV file
    encoding: str = ""

    def sentence(self, cells: "Series", problem: Odd) -> str:
        """Return what is wrong with a column, with the number and text of a row."""
        must, *text = problem.args
        if not text:
            return f"column {cells.name!r} {must}"
        row = cells.index[(as_texts(cells) == text[0]).argmax()]
        row = row + self.first if self.first else row
        return f"row {row}: column {cells.name!r} {must}. Received: {text[0]!r}"

    def refusal(self, odd: Sequence[str], most: int = 20) -> TableError:
        """Return an error that lists what is wrong with columns."""
        head = [f"{len(odd)} columns cannot be used."] * (len(odd) > 1)
        more = [f"and {len(odd) - most} more columns"] * (len(odd) > most)
        return TableError(f"{self.name}: " + "\n".join([*head, *odd[:most], *more]))


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def open_table(
    source: Any,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int = 0,
    header: bool = True,
) -> Table:
    """Open a table, with the arguments of `read_table`."""
    pandas = require("pandas", extra="experiments")
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        path.open("rb").close()  # errors about the file come first
        try:
            if path.suffix.lower() in PARQUET:
                frame = pandas.read_parquet(path, dtype_backend="pyarrow")
                table = Table(frame, path.name, 0, decimal or ".")
            elif path.suffix.lower() in EXCEL:
                if path.suffix.lower() in (".xlsx", ".xlsm"):
                    _check_extent(path)
                options = {"dtype": object, "na_filter": False, "engine": "calamine"}
                frame = pandas.read_excel(path, sheet, header=None, **options)
                table = _with_names(Table(frame, path.name, 1, decimal or "."), header)
            else:
                table = _read_csv(path, separator, decimal, encoding)
                table = _with_names(table, header)
        except (ImportError, TableError):
            raise
        except Exception as error:  # any error of the package that reads the format
            raise TableError(f"{path.name}: expected a table. {error}") from error
    elif hasattr(source, "keys"):
        table = Table(pandas.DataFrame(source), decimal=decimal or ".")
    else:
        raise ValueError(
            "`source` must be the path of a table, or a pandas DataFrame. "
            f"Received: {type(source).__name__}"
        )
    names = [str(name).strip() for name in table.frame]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(
            f"{table.name}: column names must differ; rename or remove columns. "
            f"Received twice: {repeated}"
        )
    return replace(table, frame=table.frame.set_axis(names, axis=1))


def _check_extent(path: Path) -> None:
    """Refuse cells far from the others, before the cells between take memory."""
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if not name.startswith("xl/worksheets/sheet"):
                continue
            found = re.findall(rb' r="([A-Z]+)(\d+)"', book.read(name))
            rows = max((int(row) for _, row in found), default=0)
            last = max(((len(column), column) for column, _ in found), default=(0, b""))
            columns = sum((c - 64) * 26**p for p, c in enumerate(reversed(last[1])))
            if rows * columns > max(_FEW_CELLS, 100 * path.stat().st_size):
                raise TableError(
                    f"{path.name}: remove the cells that are far from the table. "
                    f"Received: a sheet of {rows} rows and {columns} columns, nearly "
                    "all of whose cells are empty"
                )


def _with_names(table: Table, header: bool) -> Table:
    """Return a table with the names in its first row, or with numbers as names."""
    frame = table.frame
    if not header:
        names = [str(place + 1) for place in range(frame.shape[1])]
        return replace(table, frame=frame.set_axis(names, axis=1))
    names = [str(cell).strip() for cell in frame[:1].to_numpy().ravel()]
    numbers = [float(name) for name in names if NUMBER.fullmatch(name)]
    # Years, or the numbers that pandas gives to columns, may be names.
    years = not any(n % 1 for n in numbers) and numbers == sorted({*numbers})
    if not any(names) or not years or len(numbers) == len(names) != numbers[-1] + 1:
        raise TableError(
            f"{table.name}, row 1: expected the names of the columns. If the first row "
            "holds cells, use `--no-header`; the names are then 1, 2, 3 and so on. "
            f"Received: {listed(names) or 'none'}"
        )
    names = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    frame = frame[1:].set_axis(names, axis=1).reset_index(drop=True)
    return replace(table, frame=frame, first=2)


def _read_csv(
    path: Path, separator: str | None, decimal: str | None, encoding: str | None
) -> Table:
    with require("pyarrow", extra="experiments").input_stream(str(path)) as file:
        content = file.read()  # decompressed
    encoding = encoding or _ENCODINGS.get(content[:2], "utf-8")
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path.name}: expected text in {encoding.upper()}; name another encoding, "
            f"such as `--encoding cp1252`, unless the file is binary. Received: {error}"
        ) from error
    head = next(filter(str.strip, re.split(r"\r\n?|\n", text[:_HEAD])), "")
    separator = separator or max(",;\t|", key=head.count)
    frame = _cells(text, separator, path.name)
    if decimal is None and separator != ",":
        texts = frame[1:_ROWS].stack().str.strip().str
        comma = texts.fullmatch(_COMMA).any() and not texts.fullmatch(_POINT).any()
        decimal = "," if comma else "."
    return Table(frame, path.name, 1, decimal or ".", separator, encoding)


def _cells(text: str, separator: str, name: str) -> "DataFrame":
    """Return the cells of a CSV file as texts, with the header in the first row.

    pandas's own readers fill up short rows, or split quoted cells at line ends.
    """
    pyarrow = require("pyarrow", extra="experiments")
    reader = require("pyarrow.csv", extra="experiments")
    records = csv.reader(io.StringIO(text[:_HEAD], newline=""), delimiter=separator)
    first = next((record for record in records if "".join(record).strip()), [""])
    odd: list[Any] = []

    def unequal(row: Any) -> str:
        blank = not row.text.strip()
        odd.extend([] if blank else [row])
        return "skip" if blank else "error"

    names = [*map(str, range(len(first)))]
    read = reader.ReadOptions(column_names=names, block_size=2**24, use_threads=False)
    parse = reader.ParseOptions(
        delimiter=separator, newlines_in_values=True, invalid_row_handler=unequal
    )
    texts = reader.ConvertOptions(column_types=dict.fromkeys(names, "string"))
    try:
        found = reader.read_csv(pyarrow.py_buffer(text.encode()), read, parse, texts)
    except ValueError as error:
        if not odd:
            raise
        raise TableError(
            f"{name}, row {odd[0].number}: expected {len(names)} values. "
            f"Received: {odd[0].actual_columns}"
        ) from error
    frame = found.to_pandas()
    # The last cell may be the rest of the file, after a quote.
    if "\n" in frame.iloc[-1, -1] and text.count('"') % 2:
        raise TableError(f"{name}: expected a second quote for each")
    return frame
