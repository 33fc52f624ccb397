"""`Texts`, the texts of a column's cells, which reads each different text once."""

import copy
import math
import re
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets.tables.numbers import is_number

if TYPE_CHECKING:
    from pandas import DataFrame

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT"))
"""Cells that stand for a missing entry."""

NO_ENTRY = frozenset(
    ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")
)
"""Words that stand for a missing entry among numbers, dates and truth values."""

_MOST_WORDS = 5  # different words that may mean a missing entry
_NUMBER_CHARACTERS = b"0123456789+-.eE"
_COMMA = re.compile(  # not 1,234, which may have a thousands separator
    r"[+-]?(\d+,(\d{1,2}|\d{4,})|0,\d+)", re.ASCII
)
_CODE = re.compile(r"0\d+", re.ASCII)
_PERHAPS_COMMA = re.compile(r"[+-]?\d*(,\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)


class Texts:
    """The different texts of a column, and the text of each cell.

    White space around a text is removed. The text of a missing entry is empty.

    Args:
        cells: A sequence, an array or a pandas Series.
        na: Additional words that stand for a missing entry.
    """

    def __init__(self, cells: Any, na: Sequence[str] = ()) -> None:
        if hasattr(cells, "factorize"):  # a pandas Series
            self._codes, different = cells.factorize()
            values = np.asarray(different.astype(object)).tolist()
        else:
            values = np.asarray(cells).tolist()
            self._codes = np.arange(len(values))
        missing = MISSING | {*na}
        stripped = (_text(value) for value in values)
        # The last text belongs to the code -1, which pandas gives to missing entries.
        self._texts = [*("" if text in missing else text for text in stripped), ""]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._codes)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of cells with each text, without missing entries."""
        numbers = np.bincount(self._codes + 1)[1:].tolist()
        counts: dict[str, int] = {}
        for text, number in zip(self._texts, numbers, strict=False):
            if text:
                counts[text] = counts.get(text, 0) + number
        return counts

    @cached_property
    def names(self) -> list[str]:
        """The different texts, sorted, without missing entries."""
        return sorted(self.counts)

    @property
    def filled(self) -> int:
        """Number of cells that are not missing."""
        return sum(self.counts.values())

    @property
    def missing(self) -> np.ndarray:
        """Mask of the cells that are missing."""
        return np.array([not text for text in self._texts])[self._codes]

    def without(self, words: Collection[str]) -> "Texts":
        """Return these texts, with words that stand for a missing entry.

        Args:
            words: The words.
        """
        other = copy.copy(self)
        other.__dict__.pop("counts", None)
        other.__dict__.pop("names", None)
        other._texts = ["" if text in words else text for text in self._texts]
        return other

    def place(self, text: str) -> int:
        """Return the position of the first cell with a text."""
        return int(self._mask({text}).argmax())

    def first(self, texts: Sequence[str]) -> tuple[int, str]:
        """Return position and text of the first cell with one of these texts."""
        place = int(self._mask({*texts}).argmax())
        return place, self._texts[self._codes[place]]

    def replaced(self, values: dict[str, float], other: float) -> np.ndarray:
        """Return a value for each cell by its text, and NaN for a missing entry.

        Args:
            values: The value for each text.
            other: Value for all other texts.
        """
        known = {**values, "": np.nan}
        table = np.array([known.get(text, other) for text in self._texts], np.float64)
        return table[self._codes]

    def _mask(self, texts: set[str]) -> np.ndarray:
        return np.array([text in texts for text in self._texts])[self._codes]


def texts_of(cells: Any, na: Sequence[str] = ()) -> Texts | None:
    """Return the texts of cells, or `None` if they are numbers or dates.

    Args:
        cells: A sequence, an array or a pandas Series.
        na: As in `Texts`.
    """
    kind = getattr(getattr(cells, "dtype", None), "kind", "")
    return None if kind and kind in "iufM" else Texts(cells, na)


def plain_array(cells: Any) -> np.ndarray | None:
    """Return cells of numbers or dates as an array, or `None` for other cells."""
    kind = getattr(getattr(cells, "dtype", None), "kind", "")
    if hasattr(cells, "to_numpy") and kind in "iuf":  # a pandas Series, perhaps with NA
        if isinstance(cells.dtype, np.dtype):
            return cells.to_numpy()
        return cells.to_numpy(np.float64, na_value=np.nan)
    if kind == "O" and hasattr(cells, "factorize"):
        return None
    array = np.asarray(cells)
    return array if array.dtype.kind in "iufM" else None


def to_floats(text: Sequence[str]) -> np.ndarray | None:
    """Return float64 numbers, or None if a text is neither a number nor missing."""
    if "".join(text).encode(errors="replace").translate(None, _NUMBER_CHARACTERS):
        return None  # `float` also accepts 1_000, inf and digits of other scripts.
    try:
        return np.array([float(cell or "nan") for cell in text])
    except ValueError:
        return None


def reads_as_number(cell: str) -> bool:
    """Return whether `float` reads a cell, which includes `inf` and `1_000`."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def have_decimal_comma(texts: Sequence[str]) -> bool:
    """Return whether texts are numbers, some of them with a decimal comma.

    Args:
        texts: Different texts.
    """
    return any(map(_COMMA.fullmatch, texts)) and all(
        map(_PERHAPS_COMMA.fullmatch, texts)
    )


def are_codes(texts: Sequence[str]) -> bool:
    """Return whether texts are whole numbers, some of them with a leading zero.

    Args:
        texts: Different texts, such as 01067 and 10115.
    """
    stripped = [text.strip() for text in texts]
    return any(map(_CODE.fullmatch, stripped)) and all(
        text.isascii() and text.isdigit() for text in stripped
    )


def with_points(
    frame: "DataFrame", decimal: str | None, kept: Collection[str] = ()
) -> "DataFrame":
    """Return a table whose plain numbers in text have decimal points.

    Columns with currency signs, % or marks between thousands are not changed.

    Args:
        frame: The table.
        decimal: Decimal mark of the table; `None` means the point.
        kept: Names of further columns that are not changed.
    """
    if decimal in (None, "."):
        return frame
    mark = re.escape(decimal)
    number = re.compile(rf"(\s*[+-]?\d*){mark}(\d+(?:[eE][+-]?\d+)?\s*)", re.ASCII)

    def with_point(cell: Any) -> Any:
        found = number.fullmatch(cell) if isinstance(cell, str) else None
        return f"{found[1]}.{found[2]}" if found else cell

    def has_marks(cells: Any) -> bool:
        texts = cells.dropna().unique()
        return all(isinstance(each, str) for each in texts) and any(
            _THOUSANDS.fullmatch(each)
            or (to_floats([with_point(each).strip()]) is None and is_number(each))
            for each in map(str.strip, texts)
        )

    return frame.assign(
        **{
            name: frame[name].map(with_point)
            for name in frame.columns
            if frame[name].dtype.kind == "O"
            and name not in kept
            and not has_marks(frame[name])
        }
    )


def may_be_missing(texts: Sequence[str], share: float) -> bool:
    """Return whether texts that a column cannot encode may mean a missing entry.

    Args:
        texts: The different texts.
        share: Share of their cells in the column.
    """
    finite = (reads_as_number(text) and math.isfinite(float(text)) for text in texts)
    return 0 < len(texts) <= _MOST_WORDS and share <= 0.5 and not any(finite)


def _text(cell: Any) -> str:
    """Return a cell as text; whole numbers are written without a decimal point."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()
