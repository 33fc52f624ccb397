"""`infer_column` and `encode_target`, which decide what columns of a table contain."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.tables.column import BOOLEANS, CellError, Column
from keras_vaf.datasets.tables.dates import ISO, date_format
from keras_vaf.datasets.tables.problems import fault
from keras_vaf.datasets.tables.texts import (
    Texts,
    are_codes,
    have_decimal_comma,
    may_be_missing,
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
        dates: As in `date_format`.

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
    codes = are_codes(names)
    if not codes and to_floats(names) is not None:
        return Column(name)
    if any(set(map(str.lower, names)) <= set(pair) for pair in BOOLEANS):
        return Column(name, "boolean")
    if not codes and (form := date_format(series, texts, dates)):
        return Column(name, "date", format=form)
    if not codes and _most_are_numbers(series, texts):
        return Column(name)
    if len(names) >= FEWEST_IDENTIFIERS and len(names) > texts.filled // 2:
        share = "each row" if len(names) == texts.filled else "most rows"
        return LeftOut(name, f"its text differs in {share}, as an identifier")
    return Column(name, "category", tuple(names))


def encode(
    series: "Series", column: Column, texts: Texts | None, **fix: Any
) -> np.ndarray:
    """Return a column as float32, or raise a `Fault` with arguments that solve it.

    Args:
        series: The column.
        column: Its encoding.
        texts: Texts of the column; `None` if it contains numbers or dates.
        **fix: Arguments that solve the problem, unless the odd cells may be words for a
            missing entry.
    """
    try:
        return column.encode(series if texts is None else texts)
    except CellError as error:
        if may_be_missing(error.words, error.share):
            fix = {"na": error.words, "allow_missing": True}
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
        if (texts := texts_of(series)) is not None:
            _check_decimal_point(series, texts)
        numbers = encode(series, Column(str(series.name)), texts)
        if len(numbers) > 1 and np.all(numbers == numbers[0]):
            must = "is the target and must hold more than one value to predict"
            raise fault(series, must, 0)
        return numbers, None
    names = category_names(series)
    if len(names) < 2:
        raise fault(series, "is the target and must hold at least two classes", 0)
    if len(names) > max(MOST_CLASSES, len(series) // 2):
        texts = Texts(series)
        _check_decimal_point(series, texts)
        odd = [name for name in names if to_floats([name]) is None] or names
        share = sum(texts.counts[name] for name in odd) / len(series)
        words = may_be_missing(odd, share)
        fix = {"na": tuple(odd), "allow_missing": True} if words else {}
        must = (
            "is the target and must hold numbers, or classes of several rows each; it "
            f"has {len(names)} different texts in {len(series)} rows"
        )
        raise fault(series, must, texts.first(odd)[0], **fix)
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


def _check_decimal_point(series: "Series", texts: Texts) -> None:
    """Raise a `Fault` if a column writes its numbers with a decimal comma."""
    if have_decimal_comma(texts.names):
        place, _ = texts.first([name for name in texts.names if "," in name])
        must = "writes numbers with a decimal comma"
        raise fault(series, must, place, decimal=",")


def _most_are_numbers(series: "Series", texts: Texts) -> bool:
    """Return whether a column of text is intended as numbers.

    Raises:
        Fault: If the column writes its numbers in another way.
    """
    names = texts.names
    _check_decimal_point(series, texts)
    odd = [name for name in names if to_floats([name]) is None]
    if all(map(_WITH_SIGNS.fullmatch, names)):
        must = (
            "writes numbers with signs such as % or €, or with marks between "
            "thousands; write plain numbers in the file, such as 1234.5"
        )
        if not any("." in name for name in names) and "," in "".join(names):
            must += ", or name the comma as the decimal mark (`decimal`)"
        raise fault(series, must, texts.first(odd)[0], ignore=(str(series.name),))
    count = sum(texts.counts[name] for name in odd)
    return count <= texts.filled / 2 or all(map(reads_as_number, names))
