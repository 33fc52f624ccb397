"""`TableError`, which lists all problems of a table in one message."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Largest number of columns that an error message lists.
MOST_LISTED = 20


@dataclass(frozen=True)
class Problem:
    """A column that cannot be used, with the reason and a remedy.

    Args:
        column: Name of the column.
        text: Requirement of the column, as a part of a sentence.
        row: Row of the first wrong cell, as in the index of the table; `None` if the
            problem does not concern a cell.
        fix: Arguments of `read_table` that solve the problem.
        place: Position of the cell, such as `"line 3"`.
        cell: The cell.
    """

    column: str
    text: str
    row: Any = None
    fix: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    cell: str = ""

    def __str__(self) -> str:
        """Return the problem as a sentence."""
        sentence = f"column {self.column!r} {self.text}"
        if self.place:
            sentence = f"{self.place}: {sentence}. Received: {self.cell!r}"
        return sentence


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
        super().__init__(text + advice)
        self.text = text
        self.fixes = dict(fixes)
        self.solves = solves


def table_error(file: str, problems: Sequence[Problem], note: str = "") -> TableError:
    """Return one error with all problems of a table.

    Args:
        file: Name of the table.
        problems: At least one problem.
        note: A sentence for the end of the message.
    """
    listed = problems[:MOST_LISTED]
    lines = [str(problem) for problem in listed]
    if len(problems) > len(listed):
        lines.append(f"and {len(problems) - len(listed)} more columns")
    text = "\n".join([f"{file}: {len(problems)} columns cannot be used.", *lines])
    if len(problems) == 1:
        text = f"{file}{', ' if problems[0].place else ': '}{lines[0]}"
    if note:
        text = f"{text}\n{note}"
    count = sum(bool(problem.fix) for problem in problems)
    solves = f"{count} of these {len(problems)}" if count < len(problems) else ""
    return TableError(text, merged(problem.fix for problem in problems), solves)


def merged(fixes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arguments of all fixes, with the values of each argument joined."""
    found: dict[str, Any] = {}
    for fix in fixes:
        for name, value in fix.items():
            if isinstance(value, tuple):
                value = tuple(dict.fromkeys((*found.get(name, ()), *value)))
            found[name] = value
    return found
