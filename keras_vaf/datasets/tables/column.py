"""`Column`, which reads the `Cells` of a column of a table as numbers, with NumPy."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.date_formats import day, example_of
from keras_vaf.datasets.tables.number_formats import (
    NumberFormat,
    is_plain,
    reads_as_number,
    with_points,
)
from keras_vaf.datasets.tables.problems import Odd
from keras_vaf.utils import check_choice

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT"))
"""Cells that stand for a missing entry."""

Kind = Literal["number", "category", "boolean", "date"]

UNKNOWN = -1
"""Number of a category that was not in the training rows."""

BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
"""Words for 0 and 1, in lower case."""

MOST_CLASSES = 20
"""Whole numbers with at most this many different values are read as classes."""

_WORDS = {"0": 0.0, "1": 1.0} | {
    word: float(place) for pair in BOOLEANS for place, word in enumerate(pair)
}
_MOST_WORDS = 5  # different words that may mean a missing entry


class Cells:
    """The cells of a column, as numbers, dates or texts.

    White space around a text is removed. The text of a missing entry is empty.

    Args:
        values: A sequence, an array or a pandas Series.
        name: Name of the column.
        na: Additional words that stand for a missing entry.
        decimal: Decimal mark of numbers in text; `None` means the point.
        rows: Names of the rows for messages; by default their numbers from 1.

    Attributes:
        array: The cells as a NumPy array; `None` if they are text.
    """

    def __init__(
        self,
        values: Any,
        name: str = "",
        na: Sequence[str] = (),
        decimal: str | None = None,
        rows: Any = None,
    ) -> None:
        self.name = name
        self.array = _plain_array(values)
        self._values, self._na, self._decimal = values, MISSING | {*na}, decimal
        self._rows = range(1, len(values) + 1) if rows is None else rows

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._values)

    @cached_property
    def _texts(self) -> tuple[np.ndarray, list[str]]:
        """The code of each cell, and the text of each code."""
        if hasattr(self._values, "factorize"):  # a pandas Series
            codes, different = self._values.factorize()
            values = np.asarray(different.astype(object)).tolist()
        else:
            values = np.asarray(self._values).tolist()
            codes = np.arange(len(values))
        texts = [_text(value) for value in values]
        if self._decimal not in (None, "."):
            places = [n for n, value in enumerate(values) if isinstance(value, str)]
            changed = with_points([texts[n] for n in places], self._decimal)
            for place, text in zip(places, changed, strict=True):
                texts[place] = text
        # The last text belongs to the code -1, which pandas gives to missing entries.
        return codes, [*("" if text in self._na else text for text in texts), ""]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of cells with each text, sorted by text, without missing entries."""
        codes, texts = self._texts
        counts: dict[str, int] = {}
        numbers = np.bincount(codes + 1)[1:].tolist()
        for text, number in zip(texts, numbers, strict=False):
            if text:
                counts[text] = counts.get(text, 0) + number
        return dict(sorted(counts.items()))

    def mapped(self, values: Mapping[str, float], other: float = np.nan) -> np.ndarray:
        """Return a value for each cell by its text, and NaN for a missing entry."""
        codes, texts = self._texts
        known = {**values, "": np.nan}
        return np.array([known.get(text, other) for text in texts], np.float64)[codes]

    def have(self, texts: Collection[str]) -> np.ndarray:
        """Return the mask of the cells with one of these texts."""
        codes, known = self._texts
        return np.array([text in texts for text in known])[codes]

    def texts(self, mask: np.ndarray) -> tuple[str, ...]:
        """Return the different texts of some cells, in the order of the table."""
        codes, texts = self._texts
        found = dict.fromkeys(codes[mask].tolist())
        return tuple(dict.fromkeys(texts[code] for code in found))

    def located(self, problem: Odd) -> Odd:
        """Return an error about this column, with the row and the text of its cell."""
        problem.column = self.name
        if (place := problem.which) is not None:
            if not isinstance(place, int):
                place = int(self.have({*place}).argmax())
            values = self._values
            cell = values.iloc[place] if hasattr(values, "iloc") else values[place]
            problem.row, problem.cell = self._rows[place], str(cell)
        return problem


def _plain_array(values: Any) -> np.ndarray | None:
    """Return cells of numbers or dates as an array, or `None` for other cells."""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if hasattr(values, "to_numpy") and kind in "iuf":  # a Series, perhaps with NA
        if isinstance(values.dtype, np.dtype):
            return values.to_numpy()
        return values.to_numpy(np.float64, na_value=np.nan)
    if kind == "O" and hasattr(values, "factorize"):
        return None
    array = np.asarray(values)
    return array if array.dtype.kind in "iufM" else None


def _text(cell: Any) -> str:
    """Return a cell as text; whole numbers are written without a decimal point."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


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
            raise column.located(self.problem(column, odd))
        return values

    def read(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        """Return cells as float32 numbers, and the mask of those that are odd."""
        array, odd = cells.array, np.zeros(len(cells), bool)
        is_date = array is not None and array.dtype.kind == "M"
        if array is not None and self.kind == "date" and is_date:
            days = array.astype("datetime64[us]") - np.datetime64("1970-01-01", "us")
            values = days / np.timedelta64(1, "D")
        elif array is not None and self.kind == "number" and not is_date:
            values = array
        elif self.kind == "category":
            places = {name: float(place) for place, name in enumerate(self.names)}
            values = cells.mapped(places | dict.fromkeys(self.na, np.nan), UNKNOWN)
        else:
            texts = [text for text in cells.counts if text not in self.na]
            found = {text: self._value(text) for text in texts}
            known = {text: value for text, value in found.items() if value is not None}
            values = cells.mapped(known)
            if len(known) < len(found):
                odd = cells.have(found.keys() - known.keys())
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        return values, odd | np.isinf(values)

    def problem(self, cells: Cells, odd: np.ndarray, **fix: Any) -> Odd:
        """Return the error about odd cells.

        Args:
            cells: The cells.
            odd: The mask of the odd ones, from `read`.
            **fix: Arguments of `read_table` that solve the problem, unless the texts
                may mean a missing entry.
        """
        place, count = int(odd.argmax()), int(odd.sum())
        texts = cells.texts(odd)
        numbers = cells.array is not None and cells.array.dtype.kind in "iuf"
        if (self.kind == "number" and numbers) or self._value(texts[0]) is not None:
            must = "must hold finite numbers in the range of float32"
            return Odd(must, place, fix)
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
        return Odd(must, place, _as_missing(texts, cells.counts) or fix)

    def check_target(self, cells: Cells, values: np.ndarray) -> None:
        """Raise an `Odd` error if a target of these values cannot be predicted."""
        names, filled = self.names, values[~np.isnan(values)]
        first = int((~np.isnan(values)).argmax())
        if self.kind == "number" and len(filled) > 1 and np.ptp(filled) == 0:
            must = "is the target and must hold more than one value to predict"
            raise Odd(must, first)
        if self.kind == "category" and len(names) < 2:
            raise Odd("is the target and must hold at least two classes", first)
        if len(names) > max(MOST_CLASSES, len(filled) // 2):
            odd = tuple(name for name in names if not is_plain(name)) or names
            must = (
                "is the target and must hold numbers, or classes of several rows each; "
                f"it has {len(names)} different texts in {len(filled)} rows"
            )
            raise Odd(must, odd, _as_missing(odd, cells.counts))

    def _value(self, text: str) -> float | None:
        """Return the number that a text stands for, or `None` if there is none."""
        if self.kind == "boolean":
            return _WORDS.get(text.lower())
        if self.kind == "date":
            return day(text, self.format)
        if self.format:
            return NumberFormat.of(self.format).read_any(text)
        return float(text) if is_plain(text) else None


def _as_missing(texts: Sequence[str], counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the arguments that make texts missing entries, if they may be some.

    Args:
        texts: Texts that a column cannot read.
        counts: Number of cells with each text of the column.
    """
    finite = any(reads_as_number(each) and np.isfinite(float(each)) for each in texts)
    many = sum(counts[text] for text in texts) > sum(counts.values()) / 2
    if not texts or len(texts) > _MOST_WORDS or many or finite:
        return {}
    return {"na": tuple(texts), "allow_missing": True}
