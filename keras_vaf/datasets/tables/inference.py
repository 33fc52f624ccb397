"""`infer_column` and `infer_target` decide what columns hold, given their `Roles`."""

import itertools
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.tables.column import BOOLEANS, Cells, Column, may_be_missing
from keras_vaf.datasets.tables.formats import (
    DAY_FIRST,
    ISO,
    MONTH_FIRST,
    are_codes,
    date_formats,
    day,
    is_number,
    is_plain,
    number_format,
    reads_as_number,
)
from keras_vaf.utils import check_choice, check_flag

DateOrder = Literal["day-first", "month-first"]

NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")
"""Words that stand for a missing entry among numbers, dates and truth values."""

MOST_CLASSES = 20
"""Whole numbers with at most this many different values are read as classes."""

FEWEST_IDENTIFIERS = 20
"""A column with fewer different texts is never treated as a column of identifiers."""


@dataclass(frozen=True)
class Roles:
    """The user's choices of how the columns of a table are used.

    Attributes:
        likely_decimal: The comma, if numbers of a file have it.
        others: Arguments of `read_table`, with the same names.
    """

    target: str
    task: Task | None = None
    categories: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    groups: str | None = None
    time: str | None = None
    dates: DateOrder | None = None
    allow_missing: bool = True
    na: tuple[str, ...] = ()
    decimal: str | None = None
    likely_decimal: str | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_flag("allow_missing", self.allow_missing)
        if self.task is not None:
            check_choice("task", self.task, get_args(Task))
        if self.dates is not None:
            check_choice("dates", self.dates, get_args(DateOrder))
        if self.groups is not None and self.time is not None:
            raise ValueError(
                "Rows are split by `groups` or by `time`, not by both. Received: "
                f"groups={self.groups!r}, time={self.time!r}"
            )
        for name in ("groups", "time"):
            if getattr(self, name) == self.target:
                raise ValueError(
                    f"`{name}` must be another column than the target. "
                    f"Received: {name}={self.target!r}, target={self.target!r}"
                )

    @property
    def named(self) -> dict[str, str]:
        """The role of each column that the user names."""
        return {
            **dict.fromkeys(self.ignore, "a column to ignore"),
            **dict.fromkeys(self.categories, "a category"),
            **({self.groups: "the groups"} if self.groups else {}),
            **({self.time: "the time"} if self.time else {}),
            self.target: "the target",
        }

    def inputs(self, names: list[str]) -> list[str]:
        """Return the names of the columns that are inputs."""
        others = {self.target, self.groups, self.time, *self.ignore}
        return [name for name in names if name not in others]


@dataclass(frozen=True)
class LeftOut:
    """A column that is not an input."""

    name: str
    reason: str


def infer_column(cells: Cells, roles: Roles) -> Column | LeftOut:
    """Decide what kind of values an input column contains.

    Words such as "-" and "k.A." among numbers, dates and truth values are missing
    entries.

    Raises:
        Odd: If the column cannot be used.
    """
    name = cells.name
    if name in roles.categories:
        return _category(cells)
    if cells.array is not None:
        is_date = cells.array.dtype.kind == "M"
        return Column(name, "date", format=ISO) if is_date else Column(name)
    names = cells.names
    if not names:
        return LeftOut(name, "it has no entry")
    words = tuple(sorted(cells.counts.keys() & {*NO_ENTRY}))
    if len(words) < len(names) and (column := _values(cells.without(words), roles)):
        return replace(column, na=words)
    if len(names) >= FEWEST_IDENTIFIERS and len(names) > cells.filled // 2:
        share = "each row" if len(names) == cells.filled else "most rows"
        return LeftOut(name, f"its text differs in {share}, as an identifier")
    return Column(name, "category", tuple(names))


def _values(cells: Cells, roles: Roles) -> Column | None:
    """Return the encoding of numbers, dates and truth values, or `None` for words."""
    if are_codes(cells.names):
        return None
    words = {name.lower() for name in cells.names}
    if any(words <= {*pair} for pair in BOOLEANS):
        return Column(cells.name, "boolean")
    if column := _numbers(cells, roles):
        return column
    return _dates(cells, roles)


def _numbers(cells: Cells, roles: Roles) -> Column | None:
    """Return the encoding of text that is intended as numbers, or `None`.

    Raises:
        Odd: If the column writes its numbers in several ways.
    """
    if column := _marked_numbers(cells, roles):
        return column
    odd = [name for name in cells.names if not is_plain(name)]
    if len(odd) == len(cells.names) and all(map(is_number, odd)):
        must = "writes numbers with several signs, such as % and €"
        raise cells.odd(must, odd, ignore=(cells.name,))
    if cells.share(odd) <= 0.5 or all(map(reads_as_number, cells.names)):
        return Column(cells.name)
    return None


def _marked_numbers(cells: Cells, roles: Roles) -> Column | None:
    """Return the encoding of numbers with signs or marks, or `None` for other texts.

    Raises:
        Odd: If a mark may be a decimal mark or separate thousands.
    """
    found = number_format(cells.names, roles.decimal, roles.likely_decimal)
    if found is None:
        return None
    form, unclear = found
    if unclear:
        must = (
            "has numbers whose comma or point may be a decimal mark or separate "
            "thousands; name the decimal mark"
        )
        decimal = roles.likely_decimal or form.decimal
        raise cells.odd(must, {unclear}, decimal=decimal)
    read = [name for name in cells.names if form.read(name) is not None]
    return Column(cells.name, format=form.example) if cells.share(read) > 0.5 else None


def _dates(cells: Cells, roles: Roles) -> Column | None:
    """Return the encoding of dates, or `None` for other texts.

    Raises:
        Odd: If the order of day and month is unknown, or if years have two digits.
    """
    forms = date_formats(cells.counts)
    if not forms:
        return None
    example = [each for each in cells.names if day(each, forms[0]) is not None][:1]
    if "%y" in forms[0]:
        must = (
            "holds dates whose years have two digits; write years with four digits in "
            "the file"
        )
        raise cells.odd(must, example, ignore=(cells.name,))
    form = forms[0]
    if form.startswith(DAY_FIRST) and forms[-1].startswith(MONTH_FIRST):
        if roles.dates is None:
            must = "holds dates that can be read with the day or with the month first"
            raise cells.odd(must, example, dates="day-first")
        form = forms[0 if roles.dates == "day-first" else -1]
    return Column(cells.name, "date", format=form)


def _category(cells: Cells) -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers.

    Raises:
        Odd: If two names denote the same number, such as 1 and 1.0.
    """
    names = cells.names
    if all(map(is_plain, names)):
        names = sorted(names, key=float)
        for one, other in itertools.pairwise(names):
            if float(one) == float(other):
                must = f"must write each number in one way, such as {one}"
                raise cells.odd(must, {other})
    return Column(cells.name, "category", tuple(names))


def infer_target(cells: Cells, roles: Roles) -> Column:
    """Decide whether a target is a number or a class.

    Raises:
        Odd: If the column cannot be used.
    """
    if roles.task == "classification":
        return _category(cells)
    words: tuple[str, ...] = ()
    column = None
    if cells.array is None:
        plain = cells.without(NO_ENTRY)
        if plain.share(filter(is_number, plain.names)) > 0.5:
            words = tuple(sorted(cells.counts.keys() - plain.counts.keys()))
            cells = plain
        column = _marked_numbers(cells, roles)
    if column is None and roles.task is None and _holds_labels(cells):
        column = _category(cells)
    return replace(column or Column(cells.name), na=words)


def check_target(cells: Cells, column: Column, values: np.ndarray) -> None:
    """Raise an `Odd` error if a target cannot be predicted."""
    names, filled = column.names, values[~np.isnan(values)]
    first = int((~np.isnan(values)).argmax())
    if column.kind == "number" and len(filled) > 1 and np.ptp(filled) == 0:
        must = "is the target and must hold more than one value to predict"
        raise cells.odd(must, first)
    if column.kind == "category" and len(names) < 2:
        raise cells.odd("is the target and must hold at least two classes", first)
    if len(names) > max(MOST_CLASSES, len(filled) // 2):
        odd = tuple(name for name in names if not is_plain(name)) or names
        missing = may_be_missing(odd, cells.share(odd))
        fix = {"na": odd, "allow_missing": True} if missing else {}
        must = (
            "is the target and must hold numbers, or classes of several rows each; it "
            f"has {len(names)} different texts in {len(filled)} rows"
        )
        raise cells.odd(must, odd, **fix)


def _holds_labels(cells: Cells) -> bool:
    array = cells.array
    if array is None:
        if not all(map(is_plain, cells.names)):
            # Numbers in other scripts raise an error later.
            return not all(map(reads_as_number, cells.names))
        array = np.array([float(name) for name in cells.names])
    if array.dtype.kind == "M":
        return False
    for values in (array[:MOST_CLASSES], array):  # usually the first cells settle it
        values = np.unique(values[~np.isnan(values)])
        if len(values) > MOST_CLASSES or np.any(values != np.floor(values)):
            return False
    return not np.isinf(values).any()
