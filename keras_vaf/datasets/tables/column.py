"""`Column`: how the cells of one column of a table become numbers, in NumPy alone."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.utils import check_choice

Kind = Literal["number", "category", "boolean", "date"]

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT"))
"""Cells that stand for a missing entry."""

ISO = "ISO 8601"
"""Format of dates such as `2024-12-31` and `2024-12-31 23:59:59`."""

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

_WORDS = {word: float(place) for pair in BOOLEANS for place, word in enumerate(pair)}
_NUMBER_CHARACTERS = b"0123456789+-.eE"
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)


class CellError(ValueError):
    """A cell that a column cannot encode.

    Args:
        column: Name of the column.
        must: What the column must hold.
        position: Position of the cell, counted from 0.
        cell: The cell.
    """

    def __init__(self, column: str, must: str, position: int, cell: str) -> None:
        super().__init__(
            f"row {position + 1}: column {column!r} {must}. Received: {cell!r}"
        )
        self.column, self.must, self.position, self.cell = column, must, position, cell


@dataclass(frozen=True)
class Column:
    """How the cells of one column of a table become numbers.

    A missing entry becomes NaN. It is an empty cell, `None`, NaN, or one of the words
    `?`, `NA`, `N/A`, `n/a`, `nan`, `NaN`, `null`, `None` and `NaT`.

    Args:
        name: Name of the column.
        kind: `"number"`; `"category"`, the place of a cell in `names`; `"boolean"`, 0
            for false, no or off and 1 for true, yes or on; `"date"`, the number of
            days since 1970-01-01.
        names: The categories. A cell that is none of them becomes -1.
        format: How dates are written: `"ISO 8601"`, or a format of
            `datetime.datetime.strptime`.
        na: Further words that stand for a missing entry.

    Raises:
        ValueError: If `kind` is none of these.

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
            cells: A sequence, an array, or a pandas Series.

        Raises:
            CellError: If a cell is no number, truth value or date, as the column needs.
        """
        if self.kind == "category":
            places = {name: place for place, name in enumerate(self.names)}
            known = {"": np.nan, **places}
            numbers = [known.get(text, UNKNOWN) for text in self._texts(cells)]
        elif self.kind == "boolean":
            numbers = self._booleans(cells)
        elif self.kind == "date":
            numbers = self._days(cells)
        else:
            return self._numbers(cells)
        return np.array(numbers, np.float32)

    def _numbers(self, cells: Any) -> np.ndarray:
        array = plain_array(cells)
        numbers: np.ndarray | None = array
        if array.dtype.kind not in "iufb":
            numbers = to_floats(text := self._texts(array))
        if numbers is None:
            place = next(n for n, cell in enumerate(text) if to_floats([cell]) is None)
            raise CellError(self.name, "must hold numbers", place, text[place])
        with np.errstate(over="ignore"):
            values = numbers.astype(np.float32)
        infinite = np.isinf(values)
        if infinite.any():
            must, place = "must hold finite numbers in the range of float32", infinite
            first = int(place.argmax())
            raise CellError(self.name, must, first, str(array[first]).strip())
        return values

    def _booleans(self, cells: Any) -> list[float]:
        known = _WORDS | {"": np.nan, "0": 0.0, "1": 1.0}
        text = [cell.lower() for cell in self._texts(cells)]
        must = "must hold truth values, such as true and false"
        return self._looked_up(text, lambda cell: known[cell], must)

    def _days(self, cells: Any) -> Sequence[float] | np.ndarray:
        array = plain_array(cells)
        if array.dtype.kind == "M":
            days = array.astype("datetime64[us]") - np.datetime64("1970-01-01", "us")
            return days / np.timedelta64(1, "D")
        must = f"must hold dates of the format {self.format}"
        return self._looked_up(
            self._texts(array),
            lambda cell: day(cell, self.format) if cell else np.nan,
            must,
        )

    def _texts(self, cells: Any) -> list[str]:
        text = texts(cells)
        return [("" if cell in self.na else cell) for cell in text] if self.na else text

    def _looked_up(
        self, text: list[str], read: Callable[[str], float], must: str
    ) -> list[float]:
        """Return what `read` makes of each cell; it reads each different cell once."""
        known: dict[str, float] = {}
        for cell in dict.fromkeys(text):
            try:
                known[cell] = read(cell)
            except (ValueError, KeyError):
                raise CellError(self.name, must, text.index(cell), cell) from None
        return [known[cell] for cell in text]


def plain_array(cells: Any) -> np.ndarray:
    """Return cells as a one-dimensional array; those of text have the type object."""
    kind = getattr(getattr(cells, "dtype", None), "kind", "")
    if hasattr(cells, "isna") and kind not in "bM":  # a pandas Series, perhaps with NA
        if kind in "iuf":
            return cells.to_numpy(np.float64, na_value=np.nan)
        return cells.astype(object).where(cells.notna(), None).to_numpy()
    array = np.asarray(cells)
    return array.astype(object) if array.dtype.kind in "US" else array


def texts(cells: Any) -> list[str]:
    """Return cells as text without blanks around it, "" for a missing entry."""
    array = plain_array(cells)
    if array.dtype.kind == "f":
        return [_number_text(cell) for cell in array.tolist()]
    text = [
        "" if cell is None or cell != cell else str(cell).strip()
        for cell in array.tolist()
    ]
    if MISSING.isdisjoint(text):
        return text
    return ["" if cell in MISSING else cell for cell in text]


def _number_text(number: float) -> str:
    """Return a number as a file of integers would write it; "" for NaN."""
    if number != number:
        return ""
    return str(int(number)) if number.is_integer() else repr(number)


def to_floats(text: Sequence[str]) -> np.ndarray | None:
    """Return plain numbers as float64, or None if a cell is neither one nor missing."""
    if "".join(text).encode(errors="replace").translate(None, _NUMBER_CHARACTERS):
        return None  # `float` accepts more: 1_000, inf, digits of other scripts.
    try:
        return np.array([float(cell or "nan") for cell in text])
    except ValueError:
        return None


def day(text: str, form: str) -> float:
    """Return a date as the number of days since 1970-01-01, in universal time.

    Args:
        text: The date.
        form: Its format, as in `Column`.

    Raises:
        ValueError: If the text is no such date.

    Example:

    >>> day("31.12.1970 12:00", "%d.%m.%Y %H:%M")
    364.5
    """
    if form == ISO:
        moment = datetime.datetime.fromisoformat(text)
    else:
        moment = datetime.datetime.strptime(text, form)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return (moment - _EPOCH) / _DAY
