"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import csv
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keras_vaf.datasets.tables.columns import TableError
from keras_vaf.utils import check_choice, check_kind, did_you_mean, require, visible

if TYPE_CHECKING:
    from pandas import DataFrame, Series

KINDS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xls": "xlsx"}
TABLES = (*KINDS, ".csv", ".tsv", ".gz")  # others are read as CSV text, too
_OPTIONS = {
    "csv": ("separator", "encoding", "no-header"),
    "xlsx": ("sheet", "no-header"),
}
_MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT", "<NA>")
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}
_MOST = 12  # names or columns in an error or a note
_POINT = r"[+-]?([0-9]+\.([0-9]{1,2}|[0-9]{4,})|0\.[0-9]+)"  # not 1.234


@dataclass(frozen=True)
class Table:
    """A table that is open."""

    frame: "DataFrame"
    name: str
    first: int  # number of the first row of a file, for messages
    decimal: str  # mark of plain numbers in text
    separator: str = ""  # of a CSV file
    encoding: str = ""

    def cells(self, name: str, na: Sequence[str]) -> "Series":
        """Return a column as texts without blanks, or without a missing entry."""
        names = [*self.frame]
        if name not in names:
            raise TableError(
                f"column {name!r} is missing; name one of the columns: {listed(names)}."
                f"{did_you_mean(name, names)} See also `--separator` and `--sheet`."
            )
        values = self.frame[name]
        if values.dtype.kind == "f":
            # Whole numbers get no decimal mark, as in the files of other programs.
            array = require("pyarrow", extra="experiments").array(values)
            values = array.cast("string").to_pandas()
        texts = values.astype("str").str.strip()
        texts = texts.mask(texts.isin([*_MISSING, *na])).rename(name)
        index = self.frame.index
        return texts.set_axis(index + self.first if self.first else index)

    def each(self, read: Callable[[Any], Any], columns: Iterable[Any]) -> list[Any]:
        """Return what a function reads of columns, or list the odd columns."""
        found, odd = [], []
        for column in columns:
            try:
                found.append(read(column))
            except TableError as error:
                odd.append(str(error))
        if odd:
            head = [f"{len(odd)} columns cannot be used."] * (len(odd) > 1)
            text = "\n".join([*head, *odd[:_MOST]])
            raise TableError(visible(f"{self.name}: {text}"))
        return found

    def write(self, frame: "DataFrame", path: Path) -> None:
        """Write another table: Parquet, Excel, or CSV text of the form of this one."""
        kind = KINDS.get(path.suffix.lower())
        if kind == "parquet":
            frame.to_parquet(path)
        elif kind == "xlsx":
            frame.to_excel(path, index=False)
        else:
            form = {"sep": self.separator or ",", "decimal": self.decimal}
            frame.to_csv(path, index=False, encoding=self.encoding or None, **form)


def listed(names: Sequence[str]) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = f" and {len(names) - _MOST} more" * (len(names) > _MOST)
    return ", ".join(names[:_MOST]) + more


def open_table(
    source: Any, decimal: str | None = None, header: bool = True, **options: Any
) -> Table:
    """Open a table, with the arguments of `read_table`."""
    pandas = require("pandas", extra="experiments")
    check_kind("source", source, str, os.PathLike, Mapping, pandas.DataFrame)
    form = [check_choice("decimal", decimal or ".", (".", ","))]
    is_file = isinstance(source, str | os.PathLike)
    path = Path(source if is_file else "the table")
    kind = KINDS.get(path.suffix.lower(), "csv") if is_file else "pandas"
    given = {name: value for name, value in options.items() if value is not None}
    for option in given if header else (*given, "no-header"):
        if option not in _OPTIONS.get(kind, ()):
            raise TableError(f"{path.name}: `--{option}` is not for {kind} tables.")
    if is_file:
        path.open("rb").close()  # errors about the file come first
    else:
        frame = pandas.DataFrame(source)
    try:
        if kind == "parquet":
            frame = pandas.read_parquet(path, dtype_backend="pyarrow")
        elif kind == "xlsx":
            frame = _read_excel(path, **given)
        elif kind == "csv":
            frame, *form = _read_csv(path, decimal, **given)
    except Exception as error:  # any error of the package that reads the format
        raise TableError(
            f"{path.name}: expected a table; perhaps it needs `--encoding cp1252`, "
            f"`--separator` or `--sheet`. Received: {error}"
        ) from error
    if kind in _OPTIONS and len(frame):
        frame = _with_names(frame, header, path.name)
    names = [str(each).strip() for each in frame]
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated or frame.empty:
        raise TableError(
            f"{path.name}: expected at least one row, and columns whose names differ. "
            f"Received: {len(frame)} rows; names twice: {listed(repeated)}"
        )
    first = 1 + header if kind in _OPTIONS else 0
    return Table(frame.set_axis(names, axis=1), path.name, first, *form)


def _with_names(frame: "DataFrame", header: bool, name: str) -> "DataFrame":
    """Return a table with names of columns: its first row, or numbers."""
    if not header:
        return frame.set_axis([str(n + 1) for n in range(frame.shape[1])], axis=1)
    first = frame.iloc[0].astype("str").str.strip()
    if first.str.fullmatch(r"[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?").any():
        raise TableError(
            f"{name}: expected names of columns in the first row. If it holds cells, "
            "use `--no-header`, which names the columns 1, 2, 3 and so on. Otherwise "
            f"replace names that are numbers. Received: {listed([*first])}"
        )
    names = [name or f"Unnamed: {place}" for place, name in enumerate(first)]
    return frame[1:].set_axis(names, axis=1).reset_index(drop=True)


def _read_excel(path: Path, sheet: str | int = 0) -> "DataFrame":
    """Read a sheet, unless a cell far from the others would make it fill the memory."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as book:
            for name in book.namelist():
                if name.startswith("xl/worksheets/sheet"):
                    _check_extent(book.read(name))
    options = {"dtype": object, "na_filter": False, "engine": "calamine"}
    pandas = require("pandas", extra="experiments")
    return pandas.read_excel(path, sheet, header=None, **options)


def _check_extent(sheet: bytes) -> None:
    cells = re.findall(rb' r="([A-Z]+)(\d+)"', sheet) or [(b"A", b"1")]
    rows, letters = max(int(row) for _, row in cells), max(len(c) for c, _ in cells)
    if rows * 26**letters > max(2**21, 1000 * len(cells)):
        raise ValueError(
            f"{len(cells)} cells in a sheet of {rows} rows and up to {26**letters} "
            "columns; remove those that are far from the table"
        )


def _read_csv(
    path: Path, decimal: str | None, separator: str = "", encoding: str = ""
) -> tuple["DataFrame", str, str, str]:
    """Return cells as texts, decimal mark, separator and encoding of a CSV file."""
    pyarrow = require("pyarrow", extra="experiments")
    with pyarrow.input_stream(str(path)) as file:
        content = file.read()  # decompressed
    encoding = encoding or _ENCODINGS.get(content[:2], "utf-8")
    text = content.decode(encoding).removeprefix("\ufeff")
    head = text[: 2**20].lstrip("\r\n ")  # with the first row
    first = re.split(r"[\r\n]", head, maxsplit=1)[0]
    separator = separator or max(",;\t|", key=first.count)
    row = next(csv.reader(io.StringIO(head, newline=""), delimiter=separator), [""])
    names = [*map(str, range(len(row)))]
    reader = require("pyarrow.csv", extra="experiments")
    # The readers of pandas fill up rows, or split cells in quotes.
    frame = reader.read_csv(
        pyarrow.py_buffer(text.encode()),
        reader.ReadOptions(column_names=names, block_size=2**24, use_threads=False),
        reader.ParseOptions(
            delimiter=separator,
            newlines_in_values=True,
            invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
        ),
        reader.ConvertOptions(column_types=dict.fromkeys(names, "string")),
    ).to_pandas()
    # The last cell may be the rest of the file, after a quote.
    if "\n" in frame.iloc[-1, -1] and text.count('"') % 2:
        raise ValueError("a quote without a second one")
    if decimal is None and separator != ",":
        texts = frame[1:100].stack().str.strip().str
        comma = texts.fullmatch(_POINT.replace(r"\.", ",")).any()
        decimal = "," if comma and not texts.fullmatch(_POINT).any() else "."
    return frame, decimal or ".", separator, encoding
