"""`TableError`, which lists everything odd in a table in one message."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keras_vaf.utils import visible

MOST_LISTED = 20
"""Largest number of columns that an error message lists."""


@dataclass(eq=False)
class Odd(ValueError):
    """A column that cannot be used, and its first odd cell.

    Attributes:
        must: What was expected of the column, as a part of a sentence.
        which: Position of the cell, or texts, of which the first cell with one is
            meant; `None` if the problem does not concern a cell.
        fix: Arguments of `read_table` that solve the problem.
        column: Name of the column.
        row: Row of the cell in the table; `None` if it is not known.
        cell: The cell.
    """

    must: str
    which: int | Collection[str] | None = None
    fix: dict[str, Any] = field(default_factory=dict)
    column: str = ""
    row: Any = None
    cell: str = ""

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


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = len(names) - most
    return visible(", ".join(names[:most])) + (f" and {more} more" if more > 0 else "")
