"""`encode_rows`, which encodes rows of a table for a network."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keras_vaf.datasets.tables.column import CellError, Column
from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.problems import MOST_LISTED, Problem, table_error
from keras_vaf.datasets.tables.texts import MOST_WORDS, reads_as_number
from keras_vaf.utils import did_you_mean


def encode_rows(
    columns: Sequence[Column],
    table: Any,
    name: str = "the table",
    file: CsvFile | None = None,
) -> np.ndarray:
    """Return rows of a table as an array of numbers.

    Args:
        columns: The columns of the network.
        table: A dictionary from column names to sequences, or a pandas `DataFrame`.
            Other columns are ignored.
        name: Name of the table for error messages.
        file: The file of the table, which finds the lines that an error message names.

    Returns:
        A float32 array of shape `(rows, columns)`.

    Raises:
        TableError: If columns are missing, or if a column has cells that it cannot
            encode. The message lists all such columns.
        ValueError: If the columns have different numbers of rows.
    """
    names = [str(column) for column in table]
    if repeated := sorted({each for each in names if names.count(each) > 1}):
        raise ValueError(
            f"{name}: column names must differ. Received twice: {repeated}"
        )
    encoded, problems = [], []
    for column in columns:
        if column.name not in names:
            hint = did_you_mean(column.name, names)
            must = f"is missing; add it, or rename another column.{hint}"
            problems.append(Problem(column.name, must))
            continue
        try:
            encoded.append(column.encode(table[column.name]))
        except CellError as error:
            problems.append(_unreadable(error))
    if problems:
        note = "" if len(encoded) == len(columns) else _received(names)
        raise table_error(name, _placed(problems, file), note)
    if len(set(map(len, encoded))) > 1:
        lengths = ", ".join(str(len(values)) for values in encoded)
        raise ValueError(
            "All columns must have the same number of rows. Received: columns of "
            f"{lengths}"
        )
    return np.stack(encoded, axis=1)


def _unreadable(error: CellError) -> Problem:
    """Return the problem of a column with cells that it cannot encode."""
    few = 0 < len(error.words) <= MOST_WORDS and error.share <= 0.5
    missing = few and not any(map(reads_as_number, error.words))
    return Problem(
        error.column,
        error.must,
        error.position,
        {"na": error.words} if missing else {},
        f"row {error.position + 1}",
        error.cell,
    )


def _received(names: Sequence[str]) -> str:
    """Return the names of the columns of a table as a sentence."""
    hint = ""
    if len(names) == 1:
        hint = " Are its cells separated by another character (`separator`)?"
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    listed = ", ".join(names[:MOST_LISTED]) or "none"
    return f"Columns of the table: {listed}{more}.{hint}"


def _placed(problems: Sequence[Problem], file: CsvFile | None) -> list[Problem]:
    """Return the problems with the lines of the file instead of rows."""
    rows = {problem.row for problem in problems if problem.row is not None}
    found = file.cells_of(rows) if file is not None and rows else {}
    return [
        replace(problem, place=found[problem.row][0])
        if problem.row in found
        else problem
        for problem in problems
    ]
