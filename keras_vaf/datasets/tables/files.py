"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import csv
import fnmatch
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets.tables.columns import MISSING, Column, TableError
from keras_vaf.utils import check_choice, check_kind, did_you_mean, require, visible

if TYPE_CHECKING:
    from pandas import DataFrame

KINDS = {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xls": "xlsx"}
TABLES = (*KINDS, ".csv", ".tsv", ".gz")  # others are read as CSV text, too
_FILES = ("no-header", "skip", "keep-na")
_OPTIONS = {"csv": ("separator", "encoding", *_FILES), "xlsx": ("sheet", *_FILES)}
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}
_MOST = 12  # names or columns in an error or a note
_POINT = r"[+-]?([0-9]+\.([0-9]{1,2}|[0-9]{4,})|0\.[0-9]+)"  # not 1.234


@dataclass(frozen=True)
class Table:
    """A table that is open."""

    frame: "DataFrame"
    name: str
    first: int  # number of the first row of a file, for messages
    words: tuple[str, ...]  # missing entries
    decimal: str  # mark of plain numbers in text, if the table shows it
    separator: str = ""  # of a CSV file
    encoding: str = ""

    def cells(self, column: Column, na: Sequence[str]) -> tuple[Any, np.ndarray, str]:
        """Return texts, numbers of cells that are not text, and the decimal mark."""
        names, name = [*self.frame], column.name
        if name not in names:
            raise TableError(
                f"column {name!r} is missing; name one of the columns: {listed(names)}."
                f"{did_you_mean(name, names)} See also `--separator` and `--sheet`."
            )
        values = self.frame[name]
        texts = values.astype("str").str.strip().rename(name)
        # Whole numbers get no decimal mark, as in the files of other programs.
        texts = texts.str.replace(r"^([+-]?[0-9]+)\.0$", r"\1", regex=True)
        words = {*self.words, *na, *column.na} - {*column.names} | {""}
        missing = values.isna() | texts.isin(words)
        numbers = [_number(each) for each in values.mask(missing)]
        index = self.frame.index + self.first if self.first else self.frame.index
        return texts.mask(missing).set_axis(index), np.array(numbers), self.decimal

    def each(self, read: Callable[[Any], Any], columns: Iterable[Any]) -> list[Any]:
        """Return what a function reads of columns, or list the odd columns."""
        found, odd = [], []
        for column in columns:
            try:
                found.append(read(column))
            except TableError as error:
                odd.append(str(error))
        if odd:
            head = f"{len(odd)} columns cannot be used.\n" * (len(odd) > 1)
            raise TableError(visible(f"{self.name}: {head}" + "\n".join(odd[:_MOST])))
        return found

    def write(self, frame: "DataFrame", path: Path) -> None:
        """Write another table: Parquet, Excel, or CSV text of the form of this one."""
        kind = KINDS.get(path.suffix.lower())
        if kind == "parquet":
            frame.to_parquet(path)
        elif kind == "xlsx":
            frame.to_excel(path, index=False)
        else:
            form = {"sep": self.separator or ",", "decimal": self.decimal or "."}
            frame.to_csv(path, index=False, encoding=self.encoding or None, **form)


def _number(cell: Any) -> float:
    number = isinstance(cell, int | float | Decimal | np.number)
    return float(cell) if number and not isinstance(cell, bool) else np.nan


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
    form = [check_choice("decimal", decimal or "", ("", ".", ","))]
    is_file = isinstance(source, str | os.PathLike)
    path = Path(source if is_file else "the table")
    kind = KINDS.get(path.suffix.lower(), "csv") if is_file else "pandas"
    given = {name: value for name, value in options.items() if value is not None}
    for option in given if header else (*given, "no-header"):
        option = option.replace("_", "-")
        if option not in _OPTIONS.get(kind, ()):
            raise TableError(f"{path.name}: `--{option}` is not for {kind} tables.")
    words = () if given.pop("keep_na", kind not in _OPTIONS) else MISSING
    if is_file:
        path.open("rb").close()  # errors about the file come first
    try:
        if kind == "parquet":
            frame = pandas.read_parquet(path, dtype_backend="pyarrow")
        elif kind == "xlsx":
            frame = _read_excel(path, **given)
        elif kind == "csv":
            frame, *form = _read_csv(path, decimal or "", **given)
        else:
            frame = pandas.DataFrame(source)
    except Exception as error:  # any error of the package that reads the format
        raise TableError(
            f"{path.name}: expected a table; perhaps it needs `--skip 1`, "
            f"`--separator`, `--encoding cp1252` or `--sheet`. Received: {error}"
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
    first = 1 + header + given.get("skip", 0) if kind in _OPTIONS else 0
    return Table(frame.set_axis(names, axis=1), path.name, first, words, *form)


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


def _read_excel(path: Path, sheet: str | int = 0, skip: int = 0) -> "DataFrame":
    """Read a sheet, unless a cell far from the others would make it fill the memory."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as book:
            for name in fnmatch.filter(book.namelist(), "xl/worksheets/sheet*"):
                found = re.findall(rb' r="([A-Z]+)(\d+)"', book.read(name))
                rows = max((int(row) for _, row in found), default=0)
                columns = 26 ** max((len(letters) for letters, _ in found), default=0)
                if rows * columns > max(2**21, 1000 * len(found)):
                    raise ValueError(
                        f"{len(found)} cells in a sheet of {rows} rows and up to "
                        f"{columns} columns; remove those that are far from the table"
                    )
    options = {"dtype": object, "na_filter": False, "engine": "calamine"}
    pandas = require("pandas", extra="experiments")
    return pandas.read_excel(path, sheet, header=None, **options)[skip:]


def _read_csv(
    path: Path, decimal: str, separator: str = "", encoding: str = "", skip: int = 0
) -> tuple["DataFrame", str, str, str]:
    """Return cells as texts, decimal mark, separator and encoding of a CSV file."""
    pyarrow = require("pyarrow", extra="experiments")
    with pyarrow.input_stream(str(path)) as file:
        content = file.read()  # decompressed
    encoding = encoding or _ENCODINGS.get(content[:2], "utf-8")
    text = content.decode(encoding).removeprefix("\ufeff")
    text = re.split(r"\r\n|\r|\n", text, maxsplit=skip)[-1] if skip else text
    if named := re.match('"?sep=(.)"?[\r\n]+', text):  # for Excel
        separator, text = separator or named[1], text[named.end() :]
    if not text.strip():
        raise ValueError("Empty CSV file")
    head = text[: 2**20].lstrip("\r\n ")  # with the first row
    rows = re.split(r"[\r\n]+", re.sub('"[^"]*"', "", head))[:20]
    rows = [row for row in rows if row.strip()] or [""]
    found = [mark for mark in ",;\t|" if mark in rows[0]] or [" "]
    separator = separator or max(found, key=lambda m: sorted(r.count(m) for r in rows))
    if separator == " ":  # columns that are filled up with blanks
        text = re.sub("(?m)^ +| +$|(?<= ) +", "", text)
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
    if not decimal and separator != ",":
        texts = frame[1:100].stack().str.strip().str
        marks = {".": _POINT, ",": _POINT.replace(r"\.", ",")}
        decimal = next((m for m in marks if texts.fullmatch(marks[m]).any()), "")
    return frame, decimal or "." * (separator == ","), separator, encoding
