"""`TableError`, which lists all problems of a table in one message."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from keras_vaf.utils import visible

if TYPE_CHECKING:
    from pandas import Series

MOST_LISTED = 20
"""Largest number of columns that an error message lists."""

LookUp = Callable[[Collection[Any]], dict[Any, tuple[str, dict[str, str]]]]
"""Function that returns the position and the cells of rows, by column."""


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
    row, cell = series.index[place], str(series.iloc[place])
    return Fault(Problem(str(series.name), text, row, fix, f"row {row}", cell))


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


def table_error(file: str, problems: Sequence[Problem], note: str = "") -> TableError:
    """Return one error with all problems of a table.

    Args:
        file: Name of the table.
        problems: At least one problem.
        note: A sentence for the end of the message.
    """
    lines = [str(problem) for problem in problems[:MOST_LISTED]]
    if len(problems) > MOST_LISTED:
        lines.append(f"and {len(problems) - MOST_LISTED} more columns")
    text = "\n".join([f"{file}: {len(problems)} columns cannot be used.", *lines])
    if len(problems) == 1:
        text = f"{file}{', ' if problems[0].place else ': '}{lines[0]}"
    if note:
        text = f"{text}\n{note}"
    count = sum(bool(problem.fix) for problem in problems)
    solves = f"{count} of these {len(problems)}" if count < len(problems) else ""
    return TableError(text, merged(problem.fix for problem in problems), solves)


def placed(problems: Sequence[Problem], look_up: LookUp | None) -> list[Problem]:
    """Return the problems with the lines and the cells of a file.

    Args:
        problems: The problems.
        look_up: Function that looks up rows in the file; `None` without a file.
    """
    rows = {problem.row for problem in problems if problem.row is not None}
    found = look_up(rows) if look_up is not None and rows else {}
    return [_placed(each, *found.get(each.row, (each.place, {}))) for each in problems]


def _placed(problem: Problem, place: str, cells: Mapping[str, str]) -> Problem:
    return replace(problem, place=place, cell=cells.get(problem.column, problem.cell))


def check_different(names: Iterable[str], place: str) -> None:
    """Raise a `ValueError` if two columns have the same name.

    Args:
        names: Names of the columns.
        place: Name of the table, or the line of the names in its file.
    """
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(
            f"{place}: column names must differ; rename or remove columns. "
            f"Received twice: {repeated}"
        )


def check_separated(names: Sequence[str], wanted: Iterable[str], file: str) -> None:
    """Raise a `TableError` if another separator gives the wanted columns.

    Args:
        names: Names of the columns of a CSV file.
        wanted: Names of the columns that are needed.
        file: Name of the file.
    """
    if len(names) != 1:
        return
    wanted = {*wanted}
    for mark in dict.fromkeys(names[0]):
        parts = {part.strip() for part in names[0].split(mark)}
        if not mark.isalnum() and mark not in '_"' and wanted <= parts:
            raise TableError(
                f"{file}: expected cells separated by {mark!r}. "
                f"Received: one column {names[0]!r}",
                {"separator": mark},
            )


def columns_of(table: Any, is_csv: bool) -> str:
    """Return the columns of a table as the end of an error message.

    Args:
        table: A dictionary from column names to sequences, or a pandas `DataFrame`.
        is_csv: Whether the table is a CSV file, which may have another separator.
    """
    names, hint = [str(name) for name in table], ""
    if is_csv and len(names) == 1:
        hint = " Are its cells separated by another character (`separator`)?"
    elif sheets := getattr(table, "attrs", {}).get("sheets"):
        hint = f" Other sheets of the file (`sheet`): {listed(sheets)}."
    return f"{listed(names) or 'none'}.{hint}"


def listed(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """Return names separated by commas, and the number of those left out."""
    more = len(names) - most
    return visible(", ".join(names[:most])) + (f" and {more} more" if more > 0 else "")


def merged(fixes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the arguments of all fixes, with the values of each argument joined."""
    found: dict[str, Any] = {}
    for fix in fixes:
        for name, value in fix.items():
            if isinstance(value, tuple):
                value = tuple(dict.fromkeys((*found.get(name, ()), *value)))
            found[name] = value
    return found
