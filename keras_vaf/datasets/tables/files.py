"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import csv
import io
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.datasets.tables.columns import as_texts
from keras_vaf.datasets.tables.formats import Odd
from keras_vaf.utils import check_choice, check_kind, require, visible

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
_FEW_CELLS = 2**21  # of a sheet
_MOST = 12  # names or columns in an error or a note
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

    def refusal(self, odd: Sequence[str]) -> TableError:
        """Return an error that lists what is wrong with columns."""
        head = [f"{len(odd)} columns cannot be used."] * (len(odd) > 1)
        return TableError(f"{self.name}: " + "\n".join([*head, *odd[:_MOST]]))


def listed(names: Sequence[str]) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = f" and {len(names) - _MOST} more" * (len(names) > _MOST)
    return ", ".join(names[:_MOST]) + more


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
    check_kind("source", source, str, os.PathLike, Mapping, pandas.DataFrame)
    check_choice("decimal", decimal or ".", (".", ","))
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        path.open("rb").close()  # errors about the file come first
        try:
            if path.suffix.lower() in PARQUET:
                frame = pandas.read_parquet(path, dtype_backend="pyarrow")
                table = Table(frame, path.name, 0, decimal or ".")
            elif path.suffix.lower() in EXCEL:
                frame = _with_names(_read_excel(path, sheet), header)
                table = Table(frame, path.name, 1 + header, decimal or ".")
            else:
                frame, *form = _read_csv(path, separator, decimal, encoding)
                table = Table(_with_names(frame, header), path.name, 1 + header, *form)
        except ImportError:
            raise
        except Exception as error:  # any error of the package that reads the format
            raise TableError(
                f"{path.name}: expected a table; perhaps it needs `--encoding cp1252`, "
                f"`--separator` or `--sheet`. Received: {error}"
            ) from error
    else:
        table = Table(pandas.DataFrame(source), decimal=decimal or ".")
    names = [str(name).strip() for name in table.frame]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(
            f"{table.name}: column names must differ; rename or remove columns. "
            f"Received twice: {repeated}"
        )
    return replace(table, frame=table.frame.set_axis(names, axis=1))


def _with_names(frame: "DataFrame", header: bool) -> "DataFrame":
    """Return a table with the names in its first row, or with numbers as names."""
    if not header:
        return frame.set_axis([str(n + 1) for n in range(frame.shape[1])], axis=1)
    names = [str(cell).strip() for cell in frame[:1].to_numpy().ravel()]
    numbers = [float(name) for name in names if NUMBER.fullmatch(name)]
    # Years, or the numbers that pandas gives to columns, may be names.
    years = not any(n % 1 for n in numbers) and numbers == sorted({*numbers})
    if not any(names) or not years or len(numbers) == len(names) != numbers[-1] + 1:
        raise ValueError(
            f"a first row without names: {listed(names) or 'none'}; if it holds cells, "
            "use `--no-header`, which names the columns 1, 2, 3 and so on"
        )
    names = [name or f"Unnamed: {place}" for place, name in enumerate(names)]
    return frame[1:].set_axis(names, axis=1).reset_index(drop=True)


def _read_excel(path: Path, sheet: str | int) -> "DataFrame":
    """Read a sheet, unless a cell far from the others would make it fill the memory."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as book:
            for name in book.namelist():
                if name.startswith("xl/worksheets/sheet"):
                    _check_extent(re.findall(rb' r="([A-Z]+)(\d+)"', book.read(name)))
    options = {"dtype": object, "na_filter": False, "engine": "calamine"}
    pandas = require("pandas", extra="experiments")
    return pandas.read_excel(path, sheet, header=None, **options)


def _check_extent(cells: Sequence[tuple[bytes, bytes]]) -> None:
    rows = max((int(row) for _, row in cells), default=0)
    last = max({name for name, _ in cells}, key=lambda n: (len(n), n), default=b"")
    width = sum((c - 64) * 26**place for place, c in enumerate(reversed(last)))
    if rows * width > max(_FEW_CELLS, 100 * len(cells)):
        raise ValueError(
            f"a sheet of {rows} rows and {width} columns, of whose cells {len(cells)} "
            "are filled; remove those that are far from the table"
        )


def _read_csv(
    path: Path, separator: str | None, decimal: str | None, encoding: str | None
) -> tuple["DataFrame", str, str, str]:
    """Return cells as texts, decimal mark, separator and encoding of a CSV file."""
    with require("pyarrow", extra="experiments").input_stream(str(path)) as file:
        content = file.read()  # decompressed
    encoding = encoding or _ENCODINGS.get(content[:2], "utf-8")
    text = content.decode(encoding).removeprefix("\ufeff")
    head = text[:_HEAD].lstrip("\r\n ")
    first = re.split(r"[\r\n]", head, maxsplit=1)[0]
    separator = separator or max(",;\t|", key=first.count)
    names = next(csv.reader(io.StringIO(head, newline=""), delimiter=separator), [""])
    frame = _cells(text, separator, len(names))
    # The last cell may be the rest of the file, after a quote.
    if "\n" in frame.iloc[-1, -1] and text.count('"') % 2:
        raise ValueError("a quote without a second one")
    if decimal is None and separator != ",":
        texts = frame[1:_ROWS].stack().str.strip().str
        comma = texts.fullmatch(_COMMA).any() and not texts.fullmatch(_POINT).any()
        decimal = "," if comma else "."
    return frame, decimal or ".", separator, encoding


def _cells(text: str, separator: str, width: int) -> "DataFrame":
    """Return cells as texts: pandas's own readers fill up rows, or split quotes."""
    pyarrow = require("pyarrow", extra="experiments")
    reader = require("pyarrow.csv", extra="experiments")
    names = [*map(str, range(width))]
    found = reader.read_csv(
        pyarrow.py_buffer(text.encode()),
        reader.ReadOptions(column_names=names, block_size=2**24, use_threads=False),
        reader.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
        ),
        reader.ConvertOptions(column_types=dict.fromkeys(names, "string")),
    )
    return found.to_pandas()
