"""`open_table`, which opens a CSV, Parquet or Excel file or a pandas table."""

import codecs
import csv
import io
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keras_vaf.datasets.tables.column import TableError
from keras_vaf.utils import require

PARQUET = (".parquet", ".pq")
EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")

TABLES = (*PARQUET, *EXCEL, ".csv", ".tsv", ".gz", ".bz2")
"""Extensions of files that are tables. Any other file is read as CSV text."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE = 2**20  # bytes used to find the separator and the number of columns
_ROWS = 100  # rows used to guess the decimal mark
_FEW_CELLS = 2**21  # of a workbook
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# Not 1.234 or 1,234, which may have a mark between thousands.
_POINT = re.compile(r"[+-]?(\d+\.(\d{1,2}|\d{4,})|0\.\d+)", re.ASCII)
_COMMA = re.compile(_POINT.pattern.replace(r"\.", ","), re.ASCII)


@dataclass(frozen=True)
class Table:
    """A table that is open."""

    columns: Mapping[str, Any]  # Arrow arrays, sequences or Series
    path: Path | None = None
    first: int = 0  # number of the first row, for messages
    decimal: str | None = None  # mark of plain numbers in text; None is the point
    separator: str = ""  # of a CSV file
    encoding: str = ""
    hint: str = ""  # other places of columns, for messages

    @property
    def name(self) -> str:
        """Name of the table for messages."""
        return "the table" if self.path is None else self.path.name


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
    for name, mark in {"separator": separator, "decimal": decimal}.items():
        if mark is not None and not re.fullmatch(r'[^\w"\r\n]', mark):
            raise ValueError(
                f"`{name}` must be a single character, such as a comma. "
                f"Received: {name}={mark!r}"
            )
    if not isinstance(source, str | os.PathLike):
        if not hasattr(source, "keys"):
            raise ValueError(
                "`source` must be the path of a table, or a pandas DataFrame. "
                f"Received: {type(source).__name__}"
            )
        cells = (source[name] for name in source)
        return Table(_named([*source], cells, "the table"), decimal=decimal)
    path = Path(source)
    path.open("rb").close()  # errors about the file come first
    try:
        if path.suffix.lower() in PARQUET:
            return _read_parquet(path, decimal)
        if path.suffix.lower() in EXCEL:
            return _read_sheet(path, decimal, sheet, header)
        return _read_csv(path, separator, decimal, encoding, header)
    except (ImportError, TableError):
        raise
    except Exception as error:  # any error of the package that reads the format
        raise TableError(f"{path.name}: expected a table. {error}") from error


def _named(names: Iterable[Any], cells: Iterable[Any], place: str) -> dict[str, Any]:
    """Return columns by name. Their names must differ."""
    names = [str(name).strip() for name in names]
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise TableError(
            f"{place}: column names must differ; rename or remove columns. "
            f"Received twice: {repeated}"
        )
    return dict(zip(names, cells, strict=True))


def _header(cells: Sequence[Any], place: str, header: bool) -> list[str]:
    """Return the names in the first row of a file, or numbers if it has no names."""
    if not header:
        return [str(place) for place in range(1, len(cells) + 1)]
    names = [str(cell).strip() for cell in cells]
    numbers = [float(name) for name in names if _NUMBER.fullmatch(name)]
    # Years, or the numbers that pandas gives to columns, may be names.
    years = not any(n % 1 for n in numbers) and numbers == sorted({*numbers})
    if not any(names) or not years or len(numbers) == len(names) != numbers[-1] + 1:
        raise TableError(
            f"{place}: expected the names of the columns. If the first row holds "
            "cells, use `--no-header`; the names are then 1, 2, 3 and so on. "
            f"Received: {listed(names) or 'none'}"
        )
    return names


def _read_parquet(path: Path, decimal: str | None) -> Table:
    found = require("pyarrow.parquet", extra="experiments").read_table(path)
    index = (found.schema.pandas_metadata or {}).get("index_columns", [])
    found = found.drop_columns([name for name in index if isinstance(name, str)])
    cells = [column.combine_chunks() for column in found.columns]
    return Table(_named(found.column_names, cells, path.name), path, decimal=decimal)


def _read_sheet(
    path: Path, decimal: str | None, sheet: str | int, header: bool
) -> Table:
    calamine = require("python_calamine", extra="experiments")
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        _check_extent(path)
    book = calamine.load_workbook(path)
    name = sheet if isinstance(sheet, str) else book.sheet_names[sheet]
    page = book.get_sheet_by_name(name)
    rows = page.to_python(skip_empty_area=False) or [[]]
    names = [cell or f"Unnamed: {place}" for place, cell in enumerate(rows[0])]
    names = _header(names, f"{path.name}, row 1", header)
    cells = (
        [None if c == "" else c for c in column]
        for column in zip(*rows[header:], strict=True)
    )
    columns = _named(names, [*cells] or [[] for _ in names], f"{path.name}, row 1")
    others = [other for other in book.sheet_names if other != name]
    hint = f" Other sheets of the file (`--sheet`): {listed(others)}." if others else ""
    return Table(columns, path, 1 + header, decimal, hint=hint)


def _check_extent(path: Path) -> None:
    """Refuse cells far from the others, before the cells between take memory."""
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if name.startswith("xl/worksheets/sheet"):
                cells = {*re.findall(rb' r="([A-Z]+)(\d+)"', book.read(name))}
                rows = max((int(row) for _, row in cells), default=0)
                last = max(
                    (c for c, _ in cells), key=lambda c: (len(c), c), default=b""
                )
                columns = sum((n - 64) * 26**p for p, n in enumerate(reversed(last)))
                if rows * columns > max(_FEW_CELLS, 100 * path.stat().st_size):
                    raise ValueError(
                        f"The sheet has {rows} rows and {columns} columns, and nearly "
                        "all of its cells are empty. Remove the cells that are far "
                        "from the table."
                    )


def _read_csv(
    path: Path,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
    header: bool,
) -> Table:
    with require("pyarrow", extra="experiments").input_stream(str(path)) as file:
        sample = file.read(_SAMPLE)
    marks = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb": "utf-8-sig"}
    encoding = encoding or marks.get(sample[:2], "utf-8")
    text = _decoded(sample, encoding, path.name)
    head = next(filter(str.strip, re.split(r"\r\n?|\n", text)), "")
    separator = separator or max(SEPARATORS, key=head.count)
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    first = next((record for record in records if "".join(record).strip()), [])
    names = _header(first, f"{path.name}, line 1", header)
    cells = [c[header:] for c in _cells(path, separator, encoding, len(names))]
    if decimal is None and separator != ",":
        texts = [t.strip() for c in cells for t in c[:_ROWS].to_pylist()]
        comma = any(map(_COMMA.fullmatch, texts))
        decimal = "," if comma and not any(map(_POINT.fullmatch, texts)) else None
    columns = _named(names, cells, f"{path.name}, line 1")
    hint = " Are its cells separated by another character (`--separator`)?"
    hint = hint if len(names) == 1 else ""
    return Table(columns, path, 1 + header, decimal, separator, encoding, hint)


def _decoded(sample: bytes, encoding: str, name: str) -> str:
    """Return the beginning of a file as text."""
    whole = len(sample) < _SAMPLE
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample, whole)
        if "\0" in text:
            raise UnicodeDecodeError(encoding, sample, sample.index(0), 1, "a zero")
    except LookupError:
        raise ValueError(
            "`encoding` must be an encoding that Python knows, such as cp1252. "
            f"Received: {encoding=}"
        ) from None
    except UnicodeDecodeError as error:
        raise TableError(
            f"{name}: expected text in {encoding.upper()} (is the file a workbook, or "
            "saved in another encoding, such as `--encoding cp1252`?). "
            f"Received: byte {sample[error.start]:#04x} at place {error.start}"
        ) from error
    return text.removeprefix("\ufeff")  # a mark that Python's decoder keeps


def _cells(path: Path, separator: str, encoding: str, width: int) -> list[Any]:
    """Return the columns of a CSV file as texts, with the header in the first row."""
    reader, odd = require("pyarrow.csv", extra="experiments"), []

    def unequal(row: Any) -> str:
        blank = not row.text.strip()
        odd.extend([] if blank else [row])
        return "skip" if blank else "error"

    names = [*map(str, range(width))]
    read = reader.ReadOptions(
        encoding=encoding, block_size=2**24, use_threads=False, column_names=names
    )
    parse = reader.ParseOptions(
        delimiter=separator, newlines_in_values=True, invalid_row_handler=unequal
    )
    texts = reader.ConvertOptions(column_types=dict.fromkeys(names, "string"))
    try:
        found = reader.read_csv(str(path), read, parse, texts)
    except ValueError as error:
        if not odd:
            raise
        raise TableError(
            f"{path.name}, row {odd[0].number}: expected {width} values. "
            f"Received: {odd[0].actual_columns}"
        ) from error
    cells = [column.combine_chunks() for column in found.columns]
    if "\n" in cells[-1][-1].as_py():  # perhaps the rest of the file, after a quote
        with require("pyarrow", extra="experiments").input_stream(str(path)) as file:
            if file.read().count(b'"') % 2:
                raise TableError(f"{path.name}: expected a second quote for each")
    return cells
