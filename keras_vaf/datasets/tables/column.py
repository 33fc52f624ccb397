"""`Column`, which reads the cells of a column of a table as numbers, with NumPy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.cells import Cells
from keras_vaf.datasets.tables.dates import day, example_of
from keras_vaf.datasets.tables.numbers import NumberFormat, is_plain, reads_as_number
from keras_vaf.datasets.tables.problems import Odd
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
_MOST_WORDS = 5  # different words that may mean a missing entry


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
            cells: A sequence, an array or a pandas Series.

        Raises:
            ValueError: If a cell is not a number, truth value or date, as the column
                requires.
        """
        column = Cells(cells, self.name)
        values, odd = self.read(column)
        if odd.any():
            raise self.odd_cells(column, odd)
        return values

    def read(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return cells as float32 numbers, and the mask of those that are odd."""
        cells = cells.without(self.na)
        array, odd = cells.array, np.zeros(len(cells), bool)
        is_date = array is not None and array.dtype.kind == "M"
        if array is not None and self.kind == "date" and is_date:
            days = array.astype("datetime64[us]") - np.datetime64("1970-01-01", "us")
            values = days / np.timedelta64(1, "D")
        elif array is not None and self.kind == "number" and not is_date:
            values = array
        elif self.kind == "category":
            places = {name: float(place) for place, name in enumerate(self.names)}
            values = cells.mapped(places, UNKNOWN)
        else:
            found = {text: self._value(text) for text in cells.counts}
            known = {text: value for text, value in found.items() if value is not None}
            values = cells.mapped(known)
            if len(known) < len(found):
                odd = cells.have(found.keys() - known.keys())
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        return values, odd | np.isinf(values)

    def odd_cells(self, cells: Cells, odd: np.ndarray, **fix: Any) -> Odd:
        """Return the error about odd cells."""
        place, count = int(odd.argmax()), int(odd.sum())
        texts = cells.texts(odd)
        numbers = cells.array is not None and cells.array.dtype.kind in "iuf"
        if (self.kind == "number" and numbers) or self._value(texts[0]) is not None:
            must = "must hold finite numbers in the range of float32"
            return cells.odd(must, place, **fix)
        if may_be_missing(texts, cells.share(texts)):
            fix = {"na": texts, "allow_missing": True}
        must = "must hold truth values, such as true and false"
        if self.kind == "date":
            example = example_of(self.format)
            must = f"must hold dates of the format {self.format}, such as {example}"
        elif self.kind == "number":
            must = "must hold numbers"
            if reads_as_number(texts[0]):
                must += " that are finite and written with the digits 0 to 9"
            must += f", such as {self.format or '-1.5 or 2e3'}"
        verb = "does" if count == 1 else "do"
        must += f"; {count} of its {len(cells)} cells {verb} not"
        return cells.odd(must, place, **fix)

    def _value(self, text: str) -> float | None:
        """Return the number that a text stands for, or `None` if there is none."""
        if self.kind == "boolean":
            return _WORDS.get(text.lower())
        if self.kind == "date":
            return day(text, self.format)
        if self.format:
            return NumberFormat.of(self.format).read_any(text)
        return float(text) if is_plain(text) else None


def may_be_missing(texts: Sequence[str], share: float) -> bool:
    """Return whether texts that a column cannot read may mean a missing entry."""
    finite = any(reads_as_number(each) and np.isfinite(float(each)) for each in texts)
    return 0 < len(texts) <= _MOST_WORDS and share <= 0.5 and not finite
