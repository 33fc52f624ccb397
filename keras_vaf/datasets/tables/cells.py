"""`Cells`, the cells of a column, which reads each different text once."""

import copy
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from keras_vaf.datasets.tables.numbers import with_points
from keras_vaf.datasets.tables.problems import Odd

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT"))
"""Cells that stand for a missing entry."""


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
        """Number of cells with each text, without missing entries."""
        codes, texts = self._texts
        counts: dict[str, int] = {}
        numbers = np.bincount(codes + 1)[1:].tolist()
        for text, number in zip(texts, numbers, strict=False):
            if text:
                counts[text] = counts.get(text, 0) + number
        return counts

    @cached_property
    def names(self) -> list[str]:
        """The different texts, sorted, without missing entries."""
        return sorted(self.counts)

    @property
    def filled(self) -> int:
        """Number of texts that are not missing."""
        return sum(self.counts.values())

    def share(self, texts: Iterable[str]) -> float:
        """Return the share of cells with these texts among those not missing."""
        return sum(self.counts[text] for text in texts) / max(1, self.filled)

    def without(self, words: Collection[str]) -> "Cells":
        """Return these cells, with words that stand for a missing entry."""
        if not words or self.array is not None or self.counts.keys().isdisjoint(words):
            return self
        other = copy.copy(self)
        other.__dict__.pop("counts", None)
        other.__dict__.pop("names", None)
        codes, texts = self._texts
        other._texts = codes, ["" if text in words else text for text in texts]
        return other

    def mapped(self, values: dict[str, float], other: float = np.nan) -> np.ndarray:
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

    def odd(self, must: str, which: int | Collection[str] = 0, **fix: Any) -> Odd:
        """Return the error about a cell of the column.

        Args:
            must: What was expected of the column, as a part of a sentence.
            which: Position of the cell, or the texts of which the first one is meant.
            **fix: Arguments of `read_table` that solve the problem.
        """
        place = which if isinstance(which, int) else int(self.have({*which}).argmax())
        values = self._values
        cell = values.iloc[place] if hasattr(values, "iloc") else values[place]
        return Odd(self.name, must, self._rows[place], str(cell), fix)


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
