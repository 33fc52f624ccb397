"""`Column`, which encodes the cells of a column of a table as numbers, with NumPy."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.dates import day, example_of
from keras_vaf.datasets.tables.numbers import NumberFormat
from keras_vaf.datasets.tables.texts import (
    Texts,
    plain_array,
    reads_as_number,
    to_floats,
)
from keras_vaf.utils import check_choice

Kind = Literal["number", "category", "boolean", "date"]

UNKNOWN = -1
"""Number of a category that was not in the training rows."""

BOOLEANS = (
    ("false", "true"),
    ("no", "yes"),
    ("f", "t"),
    ("n", "y"),
    ("off", "on"),
)
"""Words for 0 and 1, in lower case."""

_WORDS = {"0": 0.0, "1": 1.0} | {
    word: float(place) for pair in BOOLEANS for place, word in enumerate(pair)
}


class CellError(ValueError):
    """Cells that a column cannot encode.

    Args:
        column: Name of the column.
        must: Requirement of the column, as a part of a sentence.
        position: Position of the first of these cells, counted from 0.
        cell: The first of these cells.
        share: Share of these cells among the cells that are not missing.
        words: The different texts of these cells, if they are text.
    """

    def __init__(
        self,
        column: str,
        must: str,
        position: int,
        cell: str,
        share: float = 0.0,
        words: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            f"row {position + 1}: column {column!r} {must}. Received: {cell!r}"
        )
        self.column, self.must, self.position, self.cell = column, must, position, cell
        self.share, self.words = share, words


@dataclass(frozen=True)
class Column:
    """Encoding of the cells of one column of a table as numbers.

    A missing entry becomes NaN. It is an empty cell, `None`, NaN, or one of the words
    `?`, `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.

    Args:
        name: Name of the column.
        kind: `"number"`; `"category"`, encoded as the index of a cell in `names`;
            `"boolean"`, encoded as 0 for false, no or off and as 1 for true, yes or on;
            or `"date"`, encoded as the number of days since 1970-01-01.
        names: The categories. Any other cell becomes -1.
        format: Format of dates: `"ISO 8601"`, or a format of
            `datetime.datetime.strptime`. For numbers with a currency sign, %, a decimal
            comma or marks between thousands, an example such as `"1.234,5 €"`.
        na: Additional words that stand for a missing entry.

    Raises:
        ValueError: If `kind` is not one of these.

    Example:

    >>> Column("size", "category", ("L", "S")).encode(["S", "?", "L", "XL"])
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

    def encode(self, cells: Any) -> np.ndarray:
        """Return cells as float32 numbers.

        Args:
            cells: A sequence, an array, a pandas Series, or `Texts`.

        Raises:
            CellError: If a cell is not a number, truth value or date, as the column
                requires.
        """
        array = None if isinstance(cells, Texts) else plain_array(cells)
        if self.kind == "date" and array is not None and array.dtype.kind == "M":
            days = array.astype("datetime64[us]") - np.datetime64("1970-01-01", "us")
            return (days / np.timedelta64(1, "D")).astype(np.float32)
        if self.kind == "number" and array is not None and array.dtype.kind != "M":
            return self._finite(array)
        texts = cells if isinstance(cells, Texts) else Texts(cells, self.na)
        if self.kind == "category":
            places = {name: float(place) for place, name in enumerate(self.names)}
            return texts.replaced(places, UNKNOWN).astype(np.float32)
        found = {text: self._value(text) for text in texts.counts}
        values = {text: value for text, value in found.items() if value is not None}
        if len(values) < len(found):
            odd = tuple(text for text, value in found.items() if value is None)
            raise self._odd_cells(texts, odd)
        numbers = texts.replaced(values, np.nan)
        return (
            self._finite(numbers)
            if self.kind == "number"
            else numbers.astype(np.float32)
        )

    def _value(self, text: str) -> float | None:
        """Return the number that a text stands for, or `None` if there is none."""
        try:
            if self.kind == "boolean":
                return _WORDS[text.lower()]
            if self.kind == "date":
                return day(text, self.format)
            if self.format:
                return NumberFormat.of(self.format).read(text)
            if (numbers := to_floats([text])) is not None:
                return float(numbers[0])
        except (ValueError, KeyError):
            pass
        return None

    def _odd_cells(self, texts: Texts, odd: tuple[str, ...]) -> CellError:
        """Return the error about texts that the column cannot encode."""
        place, cell = texts.first(odd)
        must = "must hold truth values, such as true and false"
        if self.kind == "date":
            must = f"must hold dates of the format {self.format}, such as "
            must += example_of(self.format)
        elif self.kind == "number":
            must = "must hold numbers"
            if reads_as_number(cell):
                must += " that are finite and written with the digits 0 to 9"
            must += f", such as {self.format or '-1.5 or 2e3'}"
        count = sum(texts.counts[text] for text in odd)
        verb = "does" if count == 1 else "do"
        must += f"; {count} of its {len(texts)} cells {verb} not"
        return CellError(self.name, must, place, cell, count / texts.filled, odd)

    def _finite(self, numbers: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            values = numbers.astype(np.float32)
        infinite = np.isinf(values)
        if infinite.any():
            must = "must hold finite numbers in the range of float32"
            first = int(infinite.argmax())
            raise CellError(self.name, must, first, str(numbers[first]))
        return values
