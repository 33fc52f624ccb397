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
    Numbers,
    Odd,
    arrow,
    days,
    plain_numbers,
)
from keras_vaf.utils import check_choice, require, visible

Kind = Literal["number", "category", "boolean", "date"]

UNKNOWN = -1
"""Number of a category that was not in the training rows."""

BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
"""Words for 0 and 1, in lower case."""

_MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT", "<NA>")
_MOST_WORDS = 5  # different words that may mean a missing entry
_MOST_LISTED = 20  # columns in a message


class TableError(ValueError):
    """A table that cannot be used. The message lists all columns that are odd."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text))

    @classmethod
    def of(cls, table: str, odd: Sequence[str], note: str = "") -> "TableError":
        """Return one error about all odd columns."""
        first = f"{table}{',' if odd[0].startswith('row') else ':'} {odd[0]}"
        lines = [f"{table}: {len(odd)} columns cannot be used.", *odd[:_MOST_LISTED]]
        more = len(odd) - _MOST_LISTED
        lines = (lines if len(odd) > 1 else [first]) + [f"and {more} more columns"] * (
            more > 0
        )
        return cls("\n".join([*lines, note]).rstrip())


class Cells:
    """The cells of a column, of which `rows` are kept.

    `typed` has numbers, or days since 1970-01-01 if `is_date` is true, and is `None`
    for texts. `values` is an Arrow array, a sequence or a pandas Series.
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
        self.na, self.decimal = na, decimal or "."
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
    def texts(self) -> Any:
        """The cells without white space around them, and null for missing entries."""
        texts = self.array
        if self.typed is not None:
            coded = texts.dictionary_encode()
            texts = _texts(coded.dictionary.to_pylist(), ".")
            texts = (
                require("pyarrow", extra="experiments")
                .array(texts, "string")
                .take(coded.indices)
            )
        texts = arrow().utf8_trim_whitespace(texts)
        return arrow().if_else(among(texts, (*_MISSING, *self.na)), None, texts)

    @cached_property
    def coded(self) -> tuple[np.ndarray, Any, np.ndarray]:
        """The code of each cell (-1 if missing), the different texts, their counts."""
        coded = self.texts.dictionary_encode()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, coded.dictionary, np.bincount(codes + 1)[1:]

    @cached_property
    def plain(self) -> Any:
        """All cells as numbers, if they are digits, a decimal mark and an exponent."""
        if self.typed is not None:
            return None if self.is_date else self.typed
        texts = arrow().replace_substring(self.texts, "\u2212", "-")
        if self.decimal != ".":
            if arrow().any(arrow().match_substring(texts, ".")).as_py():
                return None
            texts = arrow().replace_substring(texts, self.decimal, ".")
        try:
            numbers = texts.cast("float64")
        except ValueError:
            return None
        nan = arrow().any(numbers.is_nan()).as_py()  # a text such as NAN
        return None if nan else numbers.to_numpy(zero_copy_only=False)

    def words(self, odd: np.ndarray) -> list[str]:
        """Return the texts of odd cells, if they may stand for missing entries."""
        codes, texts, _ = self.coded
        words = texts.take(np.unique(codes[odd])).to_pylist()
        few = len(words) <= _MOST_WORDS and 2 * odd.sum() <= (codes >= 0).sum()
        return words if few and not re.search(r"\d|inf", "".join(words), re.I) else []

    def sentence(self, name: str, problem: Odd, rows: Any) -> str:
        """Return what is wrong with a column, with the number and text of a row."""
        sentence = f"column {name!r} {problem}"
        if problem.text is not None:
            row = rows[arrow().index(self.texts, problem.text).as_py()]
            sentence = f"row {row}: {sentence}. Received: {problem.text!r}"
        return f"{sentence}. {problem.advice}" if problem.advice else sentence


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
        if self.kind == "number":
            if self.format:
                return Numbers(texts).read(self.format, wide=True)
            return plain_numbers(texts, decimal)
        known = {name: float(place) for place, name in enumerate(self.names)}
        known |= dict.fromkeys(self.na, np.nan)
        if self.kind == "category":
            return np.array([known.get(text, UNKNOWN) for text in texts.to_pylist()])
        known = {word: n for pair in BOOLEANS for n, word in enumerate(pair)}
        return np.array([known.get(t.lower(), np.nan) for t in texts.to_pylist()])

    def problem(self, cells: Cells, odd: np.ndarray) -> Odd:
        """Return what is wrong with odd cells."""
        found = cells.texts[int(odd.argmax()) :][:1]
        text, value = found[0].as_py(), self._read(found, cells.decimal)
        if re.fullmatch("[+-]?inf(inity)?", text, re.I) or not np.isnan(value[0]):
            return Odd("must hold finite numbers in the range of float32", text)
        must = "truth values, such as true and false"
        if self.kind == "number":
            must = f"numbers, such as {self.format or '-1.5 or 2e3'}"
        if self.kind == "date":
            form = "%Y-%m-%d" if self.format == ISO else self.format
            example = datetime.date(2024, 12, 31).strftime(form)
            must = f"dates of the format {self.format}, such as {example}"
        verb = "does" if odd.sum() == 1 else "do"
        must = f"must hold {must}; {odd.sum()} of its {len(odd)} cells {verb} not"
        return Odd(must, text, na_advice(cells.words(odd)))


def na_advice(words: Sequence[str]) -> str:
    """Return the sentence that advises to take words as missing entries."""
    return f"Use `--na {','.join(words)}` if they are missing entries." if words else ""
