"""A table of text cells: what every reader of a table returns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Cells as text, with the line that each row came from.

    Args:
        file: Name of the file, for error messages.
        names: Names of the columns.
        rows: Cells, one sequence per row, each as long as `names`.
        lines: Line number of each row in the file, from 1.
    """

    file: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]

    def column(self, index: int) -> list[str]:
        """Return the cells of one column."""
        return [row[index] for row in self.rows]


def problem(file: str, line: int, message: str) -> ValueError:
    """Return the error that a reader raises: the file, the line, what is wrong."""
    return ValueError(f"{file}, line {line}: {message}")


def make_table(
    file: str, names: Sequence[str], records: Iterable[tuple[int, Sequence[str]]]
) -> Table:
    """Check that every row has one cell per column, and put the rows together.

    Args:
        file: Name of the file, for error messages.
        names: Names of the columns.
        records: Line numbers and cells of the rows.

    Returns:
        The table.

    Raises:
        ValueError: If names repeat, a row has another width, or there is no row.
    """
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise problem(file, 1, f"column names must differ. Received twice: {repeated}")
    rows, lines = [], []
    for line, cells in records:
        if len(cells) != len(names):
            raise problem(
                file, line, f"expected {len(names)} values. Received: {len(cells)}"
            )
        rows.append(cells)
        lines.append(line)
    if not rows:
        raise problem(file, 1, "expected at least one row of data. Received: none")
    return Table(file, tuple(names), rows, lines)


def join_tables(tables: Sequence[Table]) -> Table:
    """Put tables of the same columns below one another.

    Args:
        tables: The tables; the first gives the names.

    Returns:
        One table with the rows of all.
    """
    if len(tables) == 1:
        return tables[0]
    return Table(
        " and ".join(table.file for table in tables),
        tables[0].names,
        [row for table in tables for row in table.rows],
        [line for table in tables for line in table.lines],
    )
