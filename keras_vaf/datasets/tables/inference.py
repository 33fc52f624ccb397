"""`infer_column` and `encode_target`, which decide what columns of a table contain."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.tables.column import (
    BOOLEANS,
    ISO,
    CellError,
    Column,
    day,
)
from keras_vaf.datasets.tables.problems import Problem
from keras_vaf.datasets.tables.texts import (
    MOST_WORDS,
    Texts,
    plain_array,
    reads_as_number,
    texts_of,
    to_floats,
)

if TYPE_CHECKING:
    from pandas import Series

MOST_CLASSES = 20
"""Whole numbers with at most this many different values are read as classes."""

FEWEST_IDENTIFIERS = 20
"""A column with fewer different texts is never treated as a column of identifiers."""

DATES = {
    None: ("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
    "day-first": ("%d/%m/%Y", "%d-%m-%Y"),
    "month-first": ("%m/%d/%Y", "%m-%d-%Y"),
}
"""Formats of dates in addition to ISO 8601; the last two by order of day and month."""

_SHORTEST_DATE = len("1/2/2024")
_TIMES = ("", " %H:%M", " %H:%M:%S")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_WITH_SIGNS = re.compile(
    r"[$€£¥]?\s?[+-]?(\d+|\d{1,3}([,.' ]\d{3})+)([.,]\d+)?\s?[%$€£¥]?", re.ASCII
)


@dataclass(frozen=True)
class LeftOut:
    """A column that is not an input.

    Args:
        name: Name of the column.
        reason: Reason why it is left out.
    """

    name: str
    reason: str


def infer_column(
    series: "Series", texts: Texts | None, categories: Sequence[str], dates: str | None
) -> Column | LeftOut:
    """Decide what kind of values an input column contains.

    Args:
        series: The column.
        texts: Texts of the column; `None` if it contains numbers or dates.
        categories: Names of the columns that contain categories.
        dates: A key of `DATES`.

    Returns:
        The column, or the reason why it is left out.

    Raises:
        Fault: If the column cannot be used.
    """
    name, kind = str(series.name), series.dtype.kind
    if name in categories:
        return Column(name, "category", category_names(series))
    if texts is None:
        return Column(name, "date", format=ISO) if kind == "M" else Column(name)
    if kind == "b":
        return Column(name, "boolean")
    names = texts.names
    if not names:
        return LeftOut(name, "it has no entry")
    if to_floats(names) is not None:
        return Column(name)
    if any(set(map(str.lower, names)) <= set(pair) for pair in BOOLEANS):
        return Column(name, "boolean")
    if form := _date_format(names, dates, series, texts):
        return Column(name, "date", format=form)
    _refuse_numbers(series, texts)
    if len(names) >= FEWEST_IDENTIFIERS and len(names) > texts.filled // 2:
        share = "each row" if len(names) == texts.filled else "most rows"
        return LeftOut(name, f"its text differs in {share}, as an identifier")
    return Column(name, "category", tuple(names))


class Fault(Exception):
    """An exception with the `Problem` of a column."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


def fault(series: "Series", text: str, place: int, **fix: Any) -> Fault:
    """Return the error about a cell of a column.

    Args:
        series: The column.
        text: Requirement of the column, as a part of a sentence.
        place: Position of the cell.
        **fix: Arguments that solve the problem.
    """
    return Fault(Problem(str(series.name), text, series.index[place], fix))


def encode(
    series: "Series", column: Column, texts: Texts | None, **fix: Any
) -> np.ndarray:
    """Return a column as float32, or raise a `Fault` with arguments that solve it."""
    try:
        return column.encode(series if texts is None else texts)
    except CellError as error:
        raise fault(series, error.must, error.position, **fix) from None


def category_names(series: "Series") -> tuple[str, ...]:
    """Return the names of a column's categories, sorted as numbers if all are numbers.

    Args:
        series: The column.

    Raises:
        Fault: If two names denote the same number, such as 1 and 1.0.
    """
    texts = Texts(series)
    names = texts.names
    numbers = to_floats(names)
    if numbers is None:
        return tuple(names)
    names = sorted(names, key=float)
    numbers.sort()
    if (same := np.flatnonzero(numbers[1:] == numbers[:-1])).size:
        must = f"must write each number in one way, such as {names[same[0]]}"
        raise fault(series, must, texts.place(names[same[0] + 1]))
    return tuple(names)


def encode_target(
    series: "Series", task: Task | None
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the targets and, for classification, the names of the classes.

    Args:
        series: The column, without missing entries.
        task: `"classification"` or `"regression"`; `None` decides by the values.

    Raises:
        Fault: If the column cannot be used.
    """
    if task == "regression" or (task is None and not _holds_labels(series)):
        numbers = encode(series, Column(str(series.name)), texts_of(series))
        if len(numbers) > 1 and np.all(numbers == numbers[0]):
            must = "is the target and must hold more than one value to predict"
            raise fault(series, must, 0)
        return numbers, None
    names = category_names(series)
    if len(names) < 2:
        raise fault(series, "is the target and must hold at least two classes", 0)
    if len(names) > max(MOST_CLASSES, len(series) // 2):
        odd = [name for name in names if to_floats([name]) is None] or names
        must = (
            "is the target and must hold numbers, or classes of several rows each; it "
            f"has {len(names)} different texts in {len(series)} rows"
        )
        raise fault(series, must, Texts(series).first(odd)[0])
    codes = Column(str(series.name), "category", names).encode(series)
    return codes.astype(np.int64), names


def _holds_labels(series: "Series") -> bool:
    array = plain_array(series)
    if array is None:
        names = Texts(series).names
        array = to_floats(names)
        if array is None:  # Numbers in other scripts raise an error later.
            return not all(map(reads_as_number, names))
    if not _are_whole(array[:MOST_CLASSES]):  # a quick check that settles most columns
        return False
    values = np.unique(array)
    return len(values) <= MOST_CLASSES and _are_whole(values)


def _are_whole(numbers: np.ndarray) -> bool:
    return all(float(number).is_integer() for number in numbers.tolist())


def _date_format(
    names: list[str], dates: str | None, series: "Series", texts: Texts
) -> str:
    """Return the format of all texts, or "" if they are not dates."""
    if len(names[0]) < _SHORTEST_DATE or sum(map(str.isdigit, names[0])) < 4:
        return ""
    fitting = {
        order: [form for form in _formats(order) if _fits(names, form)]
        for order in (None, "day-first", "month-first")
    }
    either = [order for order, forms in fitting.items() if forms]
    if None in either or len(either) < 2:
        return next((form for forms in fitting.values() for form in forms), "")
    if dates is None:
        must = "holds dates that can be read with the day or with the month first"
        raise fault(series, must, texts.place(names[0]), dates="day-first")
    return fitting[dates][0]


def _formats(order: str | None) -> list[str]:
    iso = [ISO] if order is None else []
    return iso + [form + time for form in DATES[order] for time in _TIMES]


def _fits(names: list[str], form: str) -> bool:
    """Return whether all texts are dates in a format."""
    try:
        return all(day(name, form) is not None for name in names)
    except ValueError:
        return False


def _refuse_numbers(series: "Series", texts: Texts) -> None:
    """Raise a `Fault` if a column of text seems to be intended as numbers."""
    names = texts.names
    if all(map(_DECIMAL_COMMA.fullmatch, names)):
        must = "writes numbers with a decimal comma"
        raise fault(series, must, texts.place(names[0]), decimal=",")
    odd = [name for name in names if to_floats([name]) is None]
    if all(map(_WITH_SIGNS.fullmatch, names)):
        must = (
            "writes numbers with signs such as % or €, or with marks between "
            "thousands; write plain numbers in the file, such as 1234.5"
        )
        raise fault(series, must, texts.first(odd)[0], ignore=(str(series.name),))
    count = sum(texts.counts[name] for name in odd)
    few = 0 < count <= texts.filled / 2
    if not few and not all(map(reads_as_number, names)):
        return
    place, cell = texts.first(odd)
    words = len(odd) <= MOST_WORDS and not any(map(_reads_as_finite, odd))
    fix: dict[str, Any] = {"ignore": (str(series.name),)}
    if words:
        fix = {"na": tuple(odd), "allow_missing": True}
    must = f"must hold numbers; {count} of its {len(texts)} cells are text"
    if reads_as_number(cell):
        must = "must write finite numbers with the digits 0 to 9, such as -1.5 or 2e3"
    raise fault(series, must, place, **fix)


def _reads_as_finite(cell: str) -> bool:
    return reads_as_number(cell) and math.isfinite(float(cell))
