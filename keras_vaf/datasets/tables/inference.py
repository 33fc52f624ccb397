"""`infer_column` and `encode_target`, which decide what columns of a table contain."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets.tables.column import BOOLEANS, CellError, Column
from keras_vaf.datasets.tables.dates import ISO, date_format
from keras_vaf.datasets.tables.numbers import (
    UnclearMarks,
    is_number,
    number_format,
    read_number,
)
from keras_vaf.datasets.tables.problems import fault
from keras_vaf.datasets.tables.roles import Roles
from keras_vaf.datasets.tables.texts import (
    NO_ENTRY,
    Texts,
    are_codes,
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
    series: "Series", texts: Texts | None, roles: Roles
) -> Column | LeftOut:
    """Decide what kind of values an input column contains.

    Args:
        series: The column.
        texts: Texts of the column; `None` if it contains numbers or dates.
        roles: How columns are used.

    Returns:
        The column, or the reason why it is left out.

    Raises:
        Fault: If the column cannot be used.
    """
    name, kind = str(series.name), series.dtype.kind
    if name in roles.categories:
        return Column(name, "category", category_names(series))
    if texts is None:
        return Column(name, "date", format=ISO) if kind == "M" else Column(name)
    if kind == "b":
        return Column(name, "boolean")
    names = texts.names
    if not names:
        return LeftOut(name, "it has no entry")
    codes = are_codes(names)
    commas = "," in (roles.decimal, roles.likely_decimal)
    if not codes and commas and (column := _marked_numbers(series, texts, roles)):
        return column
    if not codes and to_floats(names) is not None:
        return Column(name)
    if any(set(map(str.lower, names)) <= set(pair) for pair in BOOLEANS):
        return Column(name, "boolean")
    if not codes and (form := date_format(series, texts, roles.dates)):
        return Column(name, "date", format=form)
    if not codes and (column := _numbers(series, texts, roles)):
        return column
    if len(names) >= FEWEST_IDENTIFIERS and len(names) > texts.filled // 2:
        share = "each row" if len(names) == texts.filled else "most rows"
        return LeftOut(name, f"its text differs in {share}, as an identifier")
    return Column(name, "category", tuple(names))


def encode(
    series: "Series", column: Column, texts: Texts | None, **fix: Any
) -> tuple[np.ndarray, Column]:
    """Return a column as float32, and its encoding with words for a missing entry.

    Words such as "-" and "k.A." among numbers, dates and truth values are missing
    entries.

    Args:
        series: The column.
        column: Its encoding.
        texts: Texts of the column; `None` if it contains numbers or dates.
        **fix: Arguments that solve the problem, unless the odd cells may be words for a
            missing entry.

    Raises:
        Fault: If the column has other cells that it cannot encode.
    """
    if texts is not None and column.kind != "category":
        words = NO_ENTRY.intersection(texts.names)
        if words and len(words) < len(texts.names):
            texts = texts.without(words)
            column = replace(column, na=tuple(sorted(words)))
    try:
        return column.encode(series if texts is None else texts), column
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
    series: "Series", roles: Roles
) -> tuple[np.ndarray, tuple[str, ...] | None]:
    """Return the targets and, for classification, the names of the classes.

    Args:
        series: The column, without missing entries.
        roles: How columns are used.

    Raises:
        Fault: If the column cannot be used.
    """
    task, column = roles.task, None
    texts = texts_of(series)
    if texts is not None and task != "classification":
        column = _marked_numbers(series, texts, roles)
    if task == "regression" or column or (task is None and not _holds_labels(series)):
        column = column or Column(str(series.name))
        numbers, _ = encode(series, column, texts)
        if len(numbers) > 1 and np.all(numbers == numbers[0]):
            must = "is the target and must hold more than one value to predict"
            raise fault(series, must, 0)
        return numbers, None
    names = category_names(series)
    if len(names) < 2:
        raise fault(series, "is the target and must hold at least two classes", 0)
    if len(names) > max(MOST_CLASSES, len(series) // 2):
        texts = Texts(series)
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


def missing_targets(series: "Series", roles: Roles) -> np.ndarray:
    """Return the mask of the rows without a target.

    Args:
        series: The target.
        roles: How columns are used.
    """
    if series.dtype.kind in "iufbM":
        return series.isna().to_numpy()
    texts = Texts(series)
    others = [name for name in texts.names if name not in NO_ENTRY]
    numbers = sum(texts.counts[name] for name in others if is_number(name))
    if numbers <= texts.filled / 2 or roles.task == "classification":
        return texts.missing
    return texts.without(NO_ENTRY).missing


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


def _numbers(series: "Series", texts: Texts, roles: Roles) -> Column | None:
    """Return the encoding of a column of text that is intended as numbers, or `None`.

    Raises:
        Fault: If the column writes its numbers in several ways.
    """
    if column := _marked_numbers(series, texts, roles):
        return column
    names, name = texts.names, str(series.name)
    odd = [each for each in names if to_floats([each]) is None]
    if all(map(is_number, names)) and len(odd) == len(names):
        must = "writes numbers with several signs, such as % and €"
        raise fault(series, must, texts.first(odd)[0], ignore=(name,))
    count = sum(texts.counts[each] for each in odd)
    if count <= texts.filled / 2 or all(map(reads_as_number, names)):
        return Column(name)
    return None


def _marked_numbers(series: "Series", texts: Texts, roles: Roles) -> Column | None:
    """Return the encoding of numbers with signs or marks, or `None` for other texts.

    Raises:
        Fault: If a mark may be a decimal mark or separate thousands.
    """
    names = texts.names
    try:
        form = number_format(names, roles.decimal, roles.likely_decimal)
    except UnclearMarks as error:
        must = (
            "has numbers whose comma or point may be a decimal mark or separate "
            "thousands; name the decimal mark"
        )
        place = texts.place(error.text)
        raise fault(series, must, place, decimal=error.decimal) from None
    if form is None:
        return None
    read = [name for name in names if read_number(name, form) is not None]
    most = sum(texts.counts[name] for name in read) > texts.filled / 2
    return Column(str(series.name), format=form.text) if most else None
