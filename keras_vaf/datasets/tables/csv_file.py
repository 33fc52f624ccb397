"""`CsvFile`, which reads a CSV file and finds the lines of errors."""

import csv
import io
import itertools
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from keras_vaf.datasets.tables.column import MISSING
from keras_vaf.datasets.tables.problems import TableError
from keras_vaf.utils import require

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_SEPARATORS = ",;\t|"
_SAMPLE = 2**16  # bytes used to guess the separator
_ROWS = 100  # rows used to guess the decimal mark
# Not 1.234 or 1,234, which may have a mark between thousands.
_POINT = re.compile(r"[+-]?(\d+\.(\d{1,2}|\d{4,})|0\.\d+)", re.ASCII)
_COMMA = re.compile(_POINT.pattern.replace(r"\.", ","), re.ASCII)


class CsvFile:
    """A CSV file. pandas reads its cells, and the `csv` module finds line numbers.

    Args:
        path: Path of the file.
        separator, decimal, encoding, na: As in `read_table`.

    Raises:
        ValueError: If a mark cannot be one, or if the file has no header.
    """

    def __init__(
        self,
        path: Path,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        na: Sequence[str] = (),
    ) -> None:
        for name, mark in (("separator", separator), ("decimal", decimal)):
            if mark is not None and (
                len(mark) != 1 or mark.isalnum() or mark in '"\r\n'
            ):
                raise ValueError(
                    f"`{name}` must be a single character, such as a comma. "
                    f"Received: {name}={mark!r}"
                )
        self.name = path.name
        self.path = path
        with path.open("rb") as file:
            self._sample = file.read(_SAMPLE)
        utf16 = self._sample[:2] in (b"\xff\xfe", b"\xfe\xff")
        self.encoding = encoding or ("utf-16" if utf16 else "utf-8-sig")
        self._na = MISSING | {*na}
        self.separator = separator or self._guess_separator()
        most = 2 if self.separator == "," else _ROWS
        first = [cells for _, cells in itertools.islice(self._records(), most)]
        self.columns, self._rows = (first or [[]])[0], first[1:]
        if not any(self.columns):
            raise self._problem(1, "expected the names of the columns. Received: none")
        self.decimal = decimal or self._guess_decimal()

    def read_frame(
        self, as_text: Collection[str] = (), only: Collection[str] | None = None
    ) -> "DataFrame":
        """Read all rows, with missing entries as NaN.

        Args:
            as_text: Names of columns that are read as text.
            only: Names of the columns to read; `None` reads all columns.

        Raises:
            ValueError: If a row has too few or too many cells, or is not text.
        """
        pandas = require("pandas", extra="experiments")
        # Short rows lack an entry of the last column.
        used = {*self.columns} & {*(self.columns if only is None else only)}
        used.add(self.columns[-1])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
                frame = pandas.read_csv(
                    self.path,
                    sep=self.separator,
                    decimal=self.decimal,
                    encoding=self.encoding,
                    header=0,
                    names=self.columns,
                    usecols=None if len(used) == len(self.columns) else list(used),
                    index_col=False,
                    dtype=dict.fromkeys({*as_text} & used, str),
                    keep_default_na=False,
                    na_values=self._na,
                )
        except (ValueError, LookupError, pandas.errors.ParserWarning) as error:
            self._check_rows()
            raise ValueError(f"{self.name}: expected a table. {error}") from error
        if self._may_have_short_rows(frame):
            self._check_rows()
        if only is not None and self.columns[-1] not in only:
            frame = frame.drop(columns=self.columns[-1])
        return frame

    def perhaps_codes(self, frame: "DataFrame", others: Collection[str]) -> set[str]:
        """Return the columns of whole numbers that may be codes, such as 01067."""
        whole = {name for name in frame if _are_whole(frame[name])}.difference(others)
        if not whole or self.encoding.lower().startswith(("utf-16", "utf-32")):
            return whole
        code = re.compile(rb'0\d(?<=[%b"\s]0\d)' % re.escape(self.separator).encode())
        return whole if any(map(code.search, self._blocks())) else set()

    def starts_with_decimal(self, column: str) -> bool:
        """Return whether the first cell of a column is a number that is not whole."""
        rows = [dict(zip(self.columns, row, strict=False)) for row in self._rows[:1]]
        cell = rows[0].get(column, "") if rows else ""
        try:
            return not float(cell.replace(self.decimal, ".")).is_integer()
        except (ValueError, OverflowError):
            return False

    def cells_of(self, rows: Collection[int]) -> dict[int, tuple[str, dict[str, str]]]:
        """Return the line number and the cells of rows, as written in the file."""
        return {
            row: (f"line {line}", dict(zip(self.columns, cells, strict=False)))
            for row, (line, cells) in enumerate(self._records(), start=-1)
            if row in rows
        }

    @cached_property
    def description(self) -> str:
        """Text that describes how the file was read."""
        names = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
        mark = ", decimal comma" if self.decimal == "," else ""
        separated = names.get(self.separator, repr(self.separator))
        encoding = self.encoding.removesuffix("-sig").upper()
        return f"separated by {separated}{mark}, {encoding}"

    def _guess_separator(self) -> str:
        try:
            with self._text() as file:
                header = file.readline(_SAMPLE)
        except UnicodeError as error:
            raise self._not_text() from error
        return max(_SEPARATORS, key=header.count)

    def _guess_decimal(self) -> str:
        """Return the comma if cells look like it and none contains a point."""
        cells = [cell for row in self._rows for cell in row]
        points = self.separator == "," or any(map(_POINT.fullmatch, cells))
        return "," if not points and any(map(_COMMA.fullmatch, cells)) else "."

    def _may_have_short_rows(self, frame: "DataFrame") -> bool:
        """Return whether pandas may have filled in missing cells of a row."""
        if not frame.iloc[:, -1].isna().any():
            return False
        count, quoted = 0, False
        for block in self._blocks():
            count += block.count(self.separator.encode())
            quoted = quoted or b'"' in block
        return quoted or count != (len(frame) + 1) * (len(self.columns) - 1)

    def _blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file, in blocks of whole lines."""
        with self.path.open("rb") as file:
            while block := file.read(2**20):
                yield block + file.readline()

    def _check_rows(self) -> None:
        """Raise an error that names the first line with too few or too many cells."""
        width = len(self.columns)
        for line, cells in self._records():
            if len(cells) != width and (len(cells) < width or any(cells[width:])):
                raise self._problem(
                    line, f"expected {width} values. Received: {len(cells)}"
                )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the cells of each record that is not blank."""
        for line, cells, _, is_row in self.parts():
            if is_row:
                yield line, [cell.strip() for cell in cells]

    def parts(self) -> Iterator[tuple[int, list[str], str, bool]]:
        """Yield line number, cells and text of each record, and whether it is a row."""
        with self._text() as file:
            lines: list[str] = []
            kept = _kept(file, lines)
            reader = csv.reader(kept, delimiter=self.separator, strict=True)
            try:
                for cells in reader:
                    # pandas skips the same lines.
                    full = len(cells) > 1 or cells == [""]
                    is_row = full or bool("".join(cells).strip(" \t"))
                    yield reader.line_num, cells, "".join(lines), is_row
                    lines.clear()
            except csv.Error as error:
                raise self._problem(
                    reader.line_num, f"expected a row of cells. Received: {error}"
                ) from error
            except UnicodeError as error:
                raise self._not_text() from error

    def _text(self) -> io.TextIOWrapper:
        if self.encoding == "utf-8-sig" and b"\0" in self._sample:
            raise self._not_text()
        try:
            return self.path.open(encoding=self.encoding, newline="")
        except LookupError:
            raise ValueError(
                "`encoding` must be an encoding that Python knows, such as cp1252. "
                f"Received: encoding={self.encoding!r}"
            ) from None

    def _not_text(self) -> TableError:
        """Return the error that names the first byte that is not text."""
        place, content = self._sample.find(b"\0"), self._sample
        fixes = {}
        if place < 0:
            place, content = 0, self.path.read_bytes()
            fixes = {"encoding": "cp1252"}
            try:
                content.decode(self.encoding)
            except UnicodeDecodeError as error:
                place = error.start
        line = content.count(b"\n", 0, place) + 1
        received = f"{content[place]:#04x}" if content else "none"
        return TableError(
            f"{self.name}, line {line}: expected text in UTF-8 (is the file "
            "compressed, a workbook, or saved in another encoding?). "
            f"Received: byte {received}",
            fixes,
        )

    def _problem(self, line: int, message: str) -> ValueError:
        return ValueError(f"{self.name}, line {line}: {message}")


def _are_whole(numbers: "Series") -> bool:
    """Return whether a column has whole numbers only."""
    if numbers.dtype.kind != "f":
        return numbers.dtype.kind in "iu"
    # Usually the first rows settle it.
    return all((rows.dropna() % 1 == 0).all() for rows in (numbers[:20], numbers))


def _kept(file: Iterable[str], lines: list[str]) -> Iterator[str]:
    """Yield the lines of a file, and append each to a list."""
    for line in file:
        lines.append(line)
        yield line
