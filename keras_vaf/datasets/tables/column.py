"""`Column`, which reads the `Cells` of a column of a table as numbers."""

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.formats import (
    ISO,
    Odd,
    arrow,
    days,
    matches,
    plain_numbers,
    read_numbers,
)
from keras_vaf.utils import check_choice, require, visible

MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT", "<NA>")
"""Cells that stand for a missing entry."""

Kind = Literal["number", "category", "boolean", "date"]

UNKNOWN = -1
"""Number of a category that was not in the training rows."""

BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
"""Words for 0 and 1, in lower case."""

_MOST_WORDS = 5  # different words that may mean a missing entry
_MOST_LISTED = 20  # columns in a message


class TableError(ValueError):
    """A table that cannot be used. The message lists all columns that are odd."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))

    @classmethod
    def of(cls, table: str, odd: Sequence[str], note: str = "") -> "TableError":
        """Return one error about all odd columns."""
        lines = [*odd[:_MOST_LISTED]]
        if len(odd) > 1:
            lines.insert(0, f"{table}: {len(odd)} columns cannot be used.")
        else:
            lines = [f"{table}{',' if odd[0].startswith('row') else ':'} {odd[0]}"]
        if len(odd) > _MOST_LISTED:
            lines.append(f"and {len(odd) - _MOST_LISTED} more columns")
        return cls("\n".join([*lines, note]).rstrip())


class Cells:
    """The cells of a column.

    They become an Arrow array of numbers, dates or texts. `typed` has numbers, or days
    since 1970-01-01 if `is_date` is true, and is `None` for texts.

    Args:
        values: An Arrow array, a sequence or a pandas Series.
        na: Additional words that stand for a missing entry.
        decimal: Decimal mark of plain numbers in text; `None` means the point.
        rows: Rows to keep; `None` keeps all.
    """

    def __init__(
        self,
        values: Any,
        na: Sequence[str] = (),
        decimal: str | None = None,
        rows: np.ndarray | None = None,
    ) -> None:
        pyarrow = require("pyarrow", extra="experiments")
        self.typed: Any = None
        self.na, self.decimal, self.rows = na, decimal or ".", rows
        try:
            array = pyarrow.array(values, from_pandas=True)
        except (pyarrow.ArrowException, OverflowError):  # several types
            array = pyarrow.array(_texts(values, self.decimal))
        if pyarrow.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        array = array if rows is None else array.take(pyarrow.array(rows))
        kind = str(array.type)
        self.is_date = kind.startswith(("timestamp", "date"))
        if self.is_date:
            moments = array.cast(pyarrow.timestamp("us")).cast("int64")
            self.typed = moments.to_numpy(zero_copy_only=False) / 86_400e6
        elif kind.startswith(("int", "uint", "float", "double", "half", "decimal")):
            self.typed = array.cast("float64").to_numpy(zero_copy_only=False)
        elif "string" not in kind:
            array = pyarrow.array(_texts(array.to_pylist(), self.decimal), "string")
        self.array = array.cast("string") if "string" in kind else array

    @cached_property
    def coded(self) -> tuple[np.ndarray, Any, np.ndarray]:
        """The code of each cell (-1 if missing), the different texts, their counts."""
        coded = self._texts.dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, coded.dictionary, np.bincount(codes + 1)[1:]

    @cached_property
    def plain(self) -> Any:
        """All cells as numbers, if they are digits, a decimal mark and an exponent."""
        if self.typed is not None:
            return None if self.is_date else self.typed
        found = None if self.na else self._plain(self.array)
        if found is not None:
            return found
        return self._plain(arrow().replace_substring(self._texts, "\u2212", "-"))

    def _plain(self, texts: Any) -> Any:
        if self.decimal != ".":
            if matches(texts, r"\.").any():
                return None
            texts = arrow().replace_substring(texts, self.decimal, ".")
        try:
            numbers = texts.cast("float64")
        except ValueError:
            return None
        nan = arrow().any(numbers.is_nan()).as_py()  # a text such as nan
        return None if nan else numbers.to_numpy(zero_copy_only=False)

    @cached_property
    def _texts(self) -> Any:
        """The cells without white space around them, and null for missing entries."""
        texts = self.array
        if self.typed is not None:
            coded, pyarrow = (
                texts.dictionary_encode(),
                require("pyarrow", "experiments"),
            )
            texts = pyarrow.array(_texts(coded.dictionary.to_pylist(), "."), "string")
            texts = texts.take(coded.indices)
        texts = arrow().utf8_trim_whitespace(texts)
        return arrow().if_else(among(texts, (*MISSING, *self.na)), None, texts)

    def words(self, odd: np.ndarray) -> list[str]:
        """Return the texts of odd cells, if they may stand for missing entries."""
        codes, texts, _ = self.coded
        words = texts.take(np.unique(codes[odd])).to_pylist()
        few = len(words) <= _MOST_WORDS and 2 * odd.sum() <= (codes >= 0).sum()
        return words if few and not re.search(r"\d|inf", "".join(words), re.I) else []

    def sentence(self, name: str, problem: Odd, first: int) -> str:
        """Return what is wrong with the column, with the row and text of a cell."""
        text, row = f"column {name!r} {problem.must}", problem.cell
        if isinstance(row, np.ndarray):
            row = int(np.append(row, False)[self.coded[0]].argmax())
        if row is not None:
            place = first + (row if self.rows is None else int(self.rows[row]))
            text = f"row {place}: {text}. Received: {str(self.array[row].as_py())!r}"
        return f"{text}. {problem.advice}" if problem.advice else text


def among(texts: Any, words: Sequence[str]) -> Any:
    """Return the mask of the texts that are among some words, as an Arrow array."""
    pyarrow = require("pyarrow", extra="experiments")
    return arrow().is_in(texts, pyarrow.array(words, "string"))


def _texts(values: Iterable[Any], decimal: str) -> list[str]:
    """Return cells as text; whole numbers are written without a decimal mark."""
    whole = (int(v) if isinstance(v, float) and v.is_integer() else v for v in values)
    return [
        str(v).replace(".", decimal) if isinstance(v, float) else str(v) for v in whole
    ]


@dataclass(frozen=True)
class Column:
    """Encoding of the cells of one column of a table as numbers.

    A missing entry becomes NaN: an empty cell, `None`, NaN, or one of the words `?`,
    `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.

    Args:
        name: Name of the column.
        kind: `"number"`; `"category"`, encoded as the index of a cell in `names`;
            `"boolean"`, encoded as 0 for false, no or off and as 1 for true, yes or on;
            or `"date"`, encoded as the number of days since 1970-01-01.
        names: The categories. Any other cell becomes -1.
        format: Format of dates: `"ISO 8601"`, or one of `datetime.datetime.strptime`.
            For numbers with a currency sign, %, a decimal comma or marks between
            thousands, an example such as `"1.234,5 €"`.
        na: Additional words that stand for a missing entry.

    Raises:
        ValueError: If `kind` is not one of these.

    Example:

    >>> Column("size", "category", ("L", "S")).read(Cells(["S", "?", "L", "XL"]))[0]
    array([ 1., nan,  0., -1.], dtype=float32)
    """

    name: str
    kind: Kind = "number"
    names: tuple[str, ...] = ()
    format: str = ""
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the kind."""
        check_choice("kind", self.kind, get_args(Kind))

    def read(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return cells as float32 numbers, and the mask of those that are odd."""
        odd = np.zeros(len(cells.array), bool)
        typed = cells.typed is not None and self.format[-1:] != "%"
        if typed and self.kind == ("date" if cells.is_date else "number"):
            values = cells.typed
        elif self.kind == "number" and not self.format and cells.plain is not None:
            values = cells.plain
        else:
            codes, texts, _ = cells.coded
            found = self._read(texts, cells.decimal)
            wrong = np.isnan(found) & ~among(texts, self.na).to_numpy(False)
            values = np.append(found, np.nan)[codes]
            odd = np.append(wrong, False)[codes]
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        return values, odd | np.isinf(values)

    def _read(self, texts: Any, decimal: str) -> np.ndarray:
        """Return different texts as numbers, and NaN for those that are odd."""
        if self.kind == "date":
            return days(texts, self.format)
        if self.kind == "number" and self.format:
            return read_numbers(texts, self.format)
        if self.kind == "number":
            return plain_numbers(texts, decimal)
        known = {name: float(place) for place, name in enumerate(self.names)}
        known |= dict.fromkeys(self.na, np.nan)
        if self.kind == "category":
            return np.array([known.get(text, UNKNOWN) for text in texts.to_pylist()])
        known = {word: n for pair in BOOLEANS for n, word in enumerate(pair)}
        return np.array([known.get(t.lower(), np.nan) for t in texts.to_pylist()])

    def problem(self, cells: Cells, odd: np.ndarray) -> Odd:
        """Return what is wrong with odd cells."""
        place, count = int(odd.argmax()), int(odd.sum())
        codes, texts, _ = cells.coded
        text = texts[int(codes[place]) :][:1]
        large = re.fullmatch("[+-]?inf(inity)?", text[0].as_py(), re.I)
        if large or not np.isnan(self._read(text, cells.decimal)[0]):
            return Odd("must hold finite numbers in the range of float32", place)
        must = "truth values, such as true and false"
        if self.kind == "number":
            must = f"numbers, such as {self.format or '-1.5 or 2e3'}"
        if self.kind == "date":
            form = "%Y-%m-%d" if self.format == ISO else self.format
            example = datetime.date(2024, 12, 31).strftime(form)
            must = f"dates of the format {self.format}, such as {example}"
        verb = "does" if count == 1 else "do"
        must = f"must hold {must}; {count} of its {len(odd)} cells {verb} not"
        return Odd(must, place, na_advice(cells.words(odd)))


def na_advice(words: Sequence[str]) -> str:
    """Return the sentence that advises to take words as missing entries."""
    return f"Use `--na {','.join(words)}` if they are missing entries." if words else ""
