"""Read a user's own table from a CSV file: `read_csv`."""

import csv
import io
import itertools
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.own_table import MISSING, Fault, encode_frame
from keras_vaf.utils import check_choice, require

if TYPE_CHECKING:
    from pandas import DataFrame


def read_csv(
    path: str | os.PathLike[str],
    target: str,
    task: Task | None = None,
    categories: Sequence[str] = (),
) -> Dataset:
    """Read a table from a CSV file: a header line, then one row per line.

    Cells are separated by commas, semicolons or tabs, whichever the header has most
    of. An empty cell, `?`, `NA`, `N/A`, `nan` or `null` is a missing entry. All columns
    but the target are inputs. Numbers are written with the digits 0 to 9, a point and
    an exponent, such as `-1.5e3`. Rows without any entry are left out.

    Args:
        path: The file, in UTF-8.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. `None` reads text, and whole
            numbers of at most 20 different values, as classes.
        categories: Names of the input columns that hold categories, as text or as
            numbers without an order.

    Returns:
        The dataset. Classes and categories are sorted as numbers if all their names
        are numbers, else by name.

    Raises:
        ValueError: If the file is not such a table. The message lists every column
            that cannot be used, with the line and the cell.
        FileNotFoundError: If the file does not exist.
        ImportError: If pandas is not installed.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_csv("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    if task is not None:
        check_choice("task", task, get_args(Task))
    table = _TextFile(Path(path))
    text = {target, *categories}
    if task != "classification" and table.starts_with_decimal(target):
        text -= {target}  # Not a label: pandas reads numbers faster than text.
    frame = table.read_frame(as_text=text)
    if target in frame and target not in text and frame[target].dtype.kind != "f":
        frame = table.read_frame(as_text={*text, target})
    return encode_frame(
        frame,
        file=table.name,
        target=target,
        task=task,
        categories=frozenset(categories),
        source=str(path),
        look_up=table.look_up,
    )


class _TextFile:
    """A CSV file: pandas reads it, and the `csv` module finds the lines for errors."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._content = path.read_bytes()
        header = self._content[: self._content.find(b"\n")]
        self._separator = max(",;\t", key=lambda mark: header.count(mark.encode()))
        _, self._columns = next(self._records(), (1, []))
        if not self._columns:
            raise self._problem(1, "expected the names of the columns. Received: none")
        repeated = [name for name, n in Counter(self._columns).items() if n > 1]
        if repeated:
            raise self._problem(
                1, f"column names must differ. Received twice: {sorted(repeated)}"
            )

    def read_frame(self, as_text: set[str]) -> "DataFrame":
        """Read all rows, with missing entries as NaN and some columns as text."""
        pandas = require("pandas", extra="experiments")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", pandas.errors.ParserWarning)
                warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
                frame = pandas.read_csv(
                    io.BytesIO(self._content),
                    sep=self._separator,
                    header=0,
                    names=self._columns,
                    index_col=False,
                    dtype=dict.fromkeys(as_text & {*self._columns}, str),
                    keep_default_na=False,
                    na_values=MISSING,
                )
        except (ValueError, pandas.errors.ParserWarning) as error:
            self._check_rows()
            raise ValueError(f"{self.name}: expected a table. {error}") from error
        if self._may_have_short_rows(frame):
            self._check_rows()
        return frame

    def starts_with_decimal(self, column: str) -> bool:
        """Tell whether the first cell of a column is a number that is not whole."""
        _, cells = next(itertools.islice(self._records(), 1, None), (0, []))
        cell = dict(zip(self._columns, cells, strict=False)).get(column, "")
        try:
            return not float(cell).is_integer()
        except ValueError:
            return False

    def look_up(self, faults: Sequence[Fault]) -> list[tuple[str, str]]:
        """Return the line and the text of the cell of each fault."""
        wanted = {fault.row for fault in faults}
        rows = {
            row: (f"line {line}", dict(zip(self._columns, cells, strict=False)))
            for row, (line, cells) in enumerate(self._records(), start=-1)
            if row in wanted
        }
        found = []
        for fault in faults:
            # A line of quoted blanks is a row for pandas alone.
            place, cells = rows.get(fault.row, (f"row {fault.row + 1}", {}))
            found.append((place, cells.get(fault.column, "")))
        return found

    def _may_have_short_rows(self, frame: "DataFrame") -> bool:
        """Tell whether pandas may have filled in cells that a row lacks."""
        if not frame.iloc[:, -1].isna().any():
            return False
        separators = self._content.count(self._separator.encode())
        expected = (len(frame) + 1) * (len(self._columns) - 1)
        return separators != expected or b'"' in self._content

    def _check_rows(self) -> None:
        """Raise an error that names the first line with too few or too many cells."""
        width = len(self._columns)
        for line, cells in self._records():
            if len(cells) != width and (len(cells) < width or any(cells[width:])):
                raise self._problem(
                    line, f"expected {width} values. Received: {len(cells)}"
                )

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and cells of each record that is not blank."""
        if (place := self._content.find(b"\0")) >= 0:
            raise self._not_text(place)
        text = io.TextIOWrapper(io.BytesIO(self._content), "utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=self._separator, strict=True)
        try:
            for cells in reader:
                # pandas leaves out the same lines.
                if len(cells) > 1 or cells == [""] or "".join(cells).strip(" \t"):
                    yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error as error:
            raise self._problem(
                reader.line_num, f"expected a row of cells. Received: {error}"
            ) from error
        except UnicodeDecodeError:
            raise self._not_text(self._first_byte_not_utf8()) from None

    def _first_byte_not_utf8(self) -> int:
        try:
            self._content.decode()
        except UnicodeDecodeError as error:
            return error.start
        return 0

    def _not_text(self, place: int) -> ValueError:
        line = self._content.count(b"\n", 0, place) + 1
        return self._problem(
            line,
            "expected text in UTF-8 (is the file compressed, a workbook, or saved in "
            f"another encoding?). Received: byte {self._content[place]:#04x}",
        )

    def _problem(self, line: int, message: str) -> ValueError:
        return ValueError(f"{self.name}, line {line}: {message}")
