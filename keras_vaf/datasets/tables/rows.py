"""`encode_rows`, which encodes rows of a table for a network."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keras_vaf.datasets.tables.column import CellError, Column
from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.problems import (
    Problem,
    check_different,
    check_separated,
    columns_of,
    listed,
    placed,
    table_error,
)
from keras_vaf.datasets.tables.texts import Texts, may_be_missing
from keras_vaf.utils import did_you_mean


def encode_rows(
    columns: Sequence[Column],
    table: Any,
    name: str = "the table",
    file: CsvFile | None = None,
    unread: list[str] | None = None,
) -> np.ndarray:
    """Return rows of a table as an array of numbers.

    Args:
        columns: The columns of the network.
        table: A dictionary from column names to sequences, or a pandas `DataFrame`,
            at least with these columns. Other columns are ignored.
        name: Name of the table for error messages.
        file: The file of the table, which finds the lines that an error message names.
        unread: List of sentences, to which this function adds those on unknown words
            that it takes as missing entries. `None` raises an error for such words.

    Returns:
        A float32 array of shape `(rows, columns)`.

    Raises:
        TableError: If columns are missing, or if a column has cells that it cannot
            encode. The message lists all such columns.
        ValueError: If the columns have different numbers of rows.
    """
    names = [str(column) for column in table] if file is None else file.columns
    check_different(names, name)
    wanted = {column.name for column in columns}
    if file is not None:
        check_separated(names, wanted, name)
    others = [other for other in names if other not in wanted]
    encoded, problems = [], []
    for column in columns:
        if column.name not in names:
            hint = did_you_mean(column.name, others)
            must = f"is missing; add it, or rename another column.{hint}"
            problems.append(Problem(column.name, must))
            continue
        try:
            encoded.append(_encode(column, table[column.name], unread))
        except CellError as error:
            problems.append(_unreadable(error))
    if problems:
        look_up = None if file is None else file.cells_of
        is_csv = file is not None
        note = f"Columns of the table: {columns_of(names if is_csv else table, is_csv)}"
        raise table_error(name, placed(problems, look_up), note)
    if len(set(map(len, encoded))) > 1:
        lengths = ", ".join(str(len(values)) for values in encoded)
        raise ValueError(
            "All columns must have the same number of rows. Received: columns of "
            f"{lengths}"
        )
    return np.stack(encoded, axis=1)


def _encode(column: Column, cells: Any, unread: list[str] | None) -> np.ndarray:
    """Return a column as numbers. Unknown words become NaN if `unread` is a list."""
    try:
        return column.encode(cells)
    except CellError as error:
        if unread is None or not may_be_missing(error.words, error.share):
            raise
        words = listed([repr(word) for word in error.words])
        count = round(error.share * Texts(cells, column.na).filled)
        unread.append(
            f"Column {column.name!r}: {count:,} of {len(cells):,} cells are not of the "
            f"kind of this column and count as missing: {words}."
        )
        na = (*column.na, *error.words)
        return replace(column, na=na).encode(cells)


def _unreadable(error: CellError) -> Problem:
    """Return the problem of a column with cells that it cannot encode."""
    missing = may_be_missing(error.words, error.share)
    return Problem(
        error.column,
        error.must,
        error.position,
        {"na": error.words} if missing else {},
        f"row {error.position + 1}",
        error.cell,
    )
