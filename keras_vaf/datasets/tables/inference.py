"""`infer`, which decides what a column of a table holds, given its `Roles`."""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.tables.column import BOOLEANS, MOST_CLASSES, Cells, Column
from keras_vaf.datasets.tables.date_formats import ISO, DateOrder, date_format
from keras_vaf.datasets.tables.number_formats import (
    are_codes,
    is_number,
    is_plain,
    marked_format,
    number_format,
    reads_as_number,
)
from keras_vaf.datasets.tables.problems import Odd
from keras_vaf.utils import check_choice, check_flag

NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")
"""Words that stand for a missing entry among numbers, dates and truth values."""

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


@dataclass(frozen=True)
class LeftOut:
    """A column that is not an input."""

    name: str
    reason: str


def infer(cells: Cells, roles: Roles) -> Column | LeftOut:
    """Decide what kind of values a column contains.

    Words such as "-" and "k.A." among numbers, dates and truth values are missing
    entries.

    Raises:
        Odd: If the column cannot be used.
    """
    if cells.name == roles.target:
        return _target(cells, roles)
    if cells.name == roles.groups:
        return Column(cells.name, "category", tuple(cells.counts))
    column = _input(cells, roles)
    timed = isinstance(column, Column) and column.kind in ("number", "date")
    if cells.name == roles.time and not timed:
        raise Odd(f"is the time and must hold numbers or dates ({ISO} is best)", 0)
    return column


def _target(cells: Cells, roles: Roles) -> Column:
    """Decide whether a target is a number or a class."""
    if roles.task == "classification":
        return _category(cells.name, cells.counts)
    if cells.array is not None:
        if roles.task is None and _are_labels(cells.array):
            return _category(cells.name, cells.counts)
        return Column(cells.name)
    counts, words = _without_words(cells.counts)
    numbers = sum(counts[text] for text in counts if is_number(text))
    if numbers <= sum(counts.values()) / 2:
        counts, words = cells.counts, ()
    form = marked_format(counts, roles.decimal, roles.likely_decimal)
    if form is None and roles.task is None and _are_names(counts):
        return replace(_category(cells.name, counts), na=words)
    return Column(cells.name, format=form or "", na=words)


def _input(cells: Cells, roles: Roles) -> Column | LeftOut:
    """Decide what an input column, or the column of times, contains."""
    name, array = cells.name, cells.array
    if name in roles.categories and name != roles.time:
        return _category(name, cells.counts)
    if array is not None:
        is_date = array.dtype.kind == "M"
        return Column(name, "date", format=ISO) if is_date else Column(name)
    if not cells.counts:
        return LeftOut(name, "it has no entry")
    counts, words = _without_words(cells.counts)
    if counts and not are_codes([*counts]):
        texts = {text.lower() for text in counts}
        if any(texts <= {*pair} for pair in BOOLEANS):
            return Column(name, "boolean", na=words)
        form = number_format(name, counts, roles.decimal, roles.likely_decimal)
        if form is not None:
            return Column(name, format=form, na=words)
        if form := date_format(name, counts, roles.dates):
            return Column(name, "date", format=form, na=words)
    names, filled = tuple(cells.counts), sum(cells.counts.values())
    if len(names) >= FEWEST_IDENTIFIERS and len(names) > filled // 2:
        share = "each row" if len(names) == filled else "most rows"
        return LeftOut(name, f"its text differs in {share}, as an identifier")
    return Column(name, "category", names)


def _without_words(counts: dict[str, int]) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the texts that are not words for a missing entry, and these words."""
    words = tuple(text for text in counts if text in NO_ENTRY)
    return {text: counts[text] for text in counts if text not in words}, words


def _category(name: str, counts: Mapping[str, int]) -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers.

    Raises:
        Odd: If two names denote the same number, such as 1 and 1.0.
    """
    names = [*counts]
    if all(map(is_plain, names)):
        names = sorted(names, key=float)
        for one, other in itertools.pairwise(names):
            if float(one) == float(other):
                must = f"must write each number in one way, such as {one}"
                raise Odd(must, {other})
    return Column(name, "category", tuple(names))


def _are_names(texts: Collection[str]) -> bool:
    """Return whether texts are classes: words, or few whole numbers."""
    if all(map(is_plain, texts)):
        return _are_labels(np.array([float(text) for text in texts]))
    # Numbers in other scripts raise an error later.
    return not all(map(reads_as_number, texts))


def _are_labels(numbers: np.ndarray) -> bool:
    """Return whether numbers are classes: few whole numbers."""
    if numbers.dtype.kind == "M":
        return False
    for values in (numbers[:MOST_CLASSES], numbers):  # usually the first ones settle it
        values = np.unique(values[~np.isnan(values)])
        if len(values) > MOST_CLASSES or np.any(values != np.floor(values)):
            return False
    return not np.isinf(values).any()
