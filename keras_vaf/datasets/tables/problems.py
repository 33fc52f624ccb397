"""`TableError`, which lists everything odd in a table in one message."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keras_vaf.utils import visible

MOST_LISTED = 20
"""Largest number of columns that an error message lists."""


class Odd(ValueError):
    """A column that cannot be used, and its first odd cell.

    Args:
        column: Name of the column.
        must: What was expected of the column, as a part of a sentence.
        row: Row of the cell in the table; `None` if the problem does not concern a
            cell.
        cell: The cell.
        fix: Arguments of `read_table` that solve the problem.
    """

    def __init__(
        self,
        column: str,
        must: str,
        row: Any = None,
        cell: str = "",
        fix: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(column, must, row, cell, fix)
        self.column, self.must, self.row, self.cell = column, must, row, cell
        self.fix = fix or {}

    def __str__(self) -> str:
        """Return the problem as a sentence."""
        return self.sentence(f"row {self.row}", {})

    def sentence(self, place: str, cells: Mapping[str, str]) -> str:
        """Return the problem as a sentence."""
        text = f"column {self.column!r} {self.must}"
        if self.row is None:
            return text
        cell = cells.get(self.column, self.cell)
        return f"{place}: {text}. Received: {cell!r}"


class TableError(ValueError):
    """A table that cannot be used, with arguments that solve the problems.

    Args:
        text: Text with all problems.
        fixes: Arguments of `read_table` that solve the problems, or some of them.
        solves: The problems that `fixes` solve, such as `"2 of these 3"`; empty for
            all of them.

    Example:

    >>> TableError("flowers.csv: column 'petal' misses 1 entry", {"ignore": ("petal",)})
    TableError("flowers.csv: column 'petal' misses 1 entry...ignore=('petal',).")
    """

    def __init__(self, text: str, fixes: Mapping[str, Any], solves: str = "") -> None:
        arguments = ", ".join(f"{name}={value!r}" for name, value in fixes.items())
        advice = f"\nTo solve {solves or 'this'}, pass {arguments}." if fixes else ""
        self.text = visible(text)
        super().__init__(self.text + advice)
        self.fixes = dict(fixes)
        self.solves = solves


def merged(fixes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arguments of all fixes, with the values of each argument joined."""
    found: dict[str, Any] = {}
    for fix in fixes:
        for name, value in fix.items():
            if isinstance(value, tuple):
                value = tuple(dict.fromkeys((*found.get(name, ()), *value)))
            found[name] = value
    return found


def check_columns(names: Sequence[str], place: str, wanted: Iterable[str] = ()) -> None:
    """Raise an error if two columns have the same name, or if a separator is missing.

    Args:
        names: Names of the columns.
        place: Name of the table, or the line of the names in its file.
        wanted: Names of the columns that are needed, for a CSV file.

    Raises:
        TableError: If another separator gives the wanted columns.
        ValueError: If two columns have the same name.
    """
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(
            f"{place}: column names must differ; rename or remove columns. "
            f"Received twice: {repeated}"
        )
    wanted = {*wanted}
    if not wanted or len(names) != 1:
        return
    for mark in dict.fromkeys(names[0]):
        parts = {part.strip() for part in names[0].split(mark)}
        if not mark.isalnum() and mark not in '_"' and wanted <= parts:
            raise TableError(
                f"{place}: expected cells separated by {mark!r}. "
                f"Received: one column {names[0]!r}",
                {"separator": mark},
            )


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = len(names) - most
    return visible(", ".join(names[:most])) + (f" and {more} more" if more > 0 else "")
