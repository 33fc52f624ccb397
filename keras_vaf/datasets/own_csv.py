"""A user's own table."""

import os
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.encoding import column_index, encode_table, is_number
from keras_vaf.datasets.parsers import Table, problem, read_text

_MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null")

# Whole numbers with no more different values than this are taken for class labels.
_MOST_CLASSES = 20


def read_csv(
    path: str | os.PathLike[str],
    target: str,
    task: Task | None = None,
    categories: Sequence[str] = (),
) -> Dataset:
    """Read a table of one's own: a header line, then one row per line.

    Cells are separated by commas, semicolons or tabs, whichever the header has most
    of. An empty cell, `?`, `NA`, `N/A`, `nan` or `null` is a missing entry. All columns
    but the target are inputs.

    Args:
        path: The file.
        target: Name of the column to predict.
        task: `"classification"` or `"regression"`. `None` takes text, and whole
            numbers of at most 20 different values, for classes.
        categories: Names of the input columns that hold categories, as text or as
            numbers without an order.

    Returns:
        The dataset. Classes and categories are ordered by number if all their names
        are numbers, else by name.

    Raises:
        ValueError: If the file is not such a table; the message names what and where.
        FileNotFoundError: If there is no such file.

    Example:

    >>> from pathlib import Path
    >>> _ = Path("flowers.csv").write_text("petal,kind\\n1.4,a\\n4.7,b\\n5.1,b\\n")
    >>> read_csv("flowers.csv", target="kind")
    Dataset('flowers', classification, 3 rows, 1 input, 2 classes)
    """
    if task not in (None, "classification", "regression"):
        raise ValueError(
            "`task` must be 'classification', 'regression' or None. "
            f"Received: task={task!r}"
        )
    path = Path(path)
    content = path.read_bytes()
    header = content.split(b"\n", 1)[0]
    separator = max(",;\t", key=lambda candidate: header.count(candidate.encode()))
    table = read_text(content, path.name, separator)
    cells = table.column(column_index(table, target, "the target"))
    _check_target(table, target, cells)
    if task is None:
        task = "classification" if _are_labels(cells) else "regression"
    return encode_table(
        table,
        name=path.stem,
        target=target,
        labels=_labels(table, target) if task == "classification" else None,
        categories={
            column: _names(table, column, "a category") for column in categories
        },
        missing=_MISSING,
        source=str(path),
    )


def _check_target(table: Table, target: str, cells: Sequence[str]) -> None:
    for line, cell in zip(table.lines, cells, strict=True):
        if cell in _MISSING:
            raise problem(
                table.file,
                line,
                f"the target column {target!r} must not have missing entries; remove "
                f"the row or fill it in. Received: {cell!r}",
            )


def _labels(table: Table, target: str) -> list[str]:
    labels = _names(table, target, "the target")
    if len(labels) < 2:
        raise ValueError(
            f"{table.file}: the target column {target!r} must hold at least two "
            f"classes. Received: {labels[0]!r} in every row"
        )
    return labels


def _are_labels(cells: Sequence[str]) -> bool:
    if not all(map(is_number, cells)):
        return True
    values = {float(cell) for cell in cells}
    return len(values) <= _MOST_CLASSES and all(value.is_integer() for value in values)


def _names(table: Table, column: str, role: str) -> list[str]:
    """Return the names that a column of classes or categories holds, in order."""
    cells = table.column(column_index(table, column, role))
    names = sorted(set(cells) - set(_MISSING))
    if not all(map(is_number, names)):
        return names
    if len({float(name) for name in names}) < len(names):
        raise ValueError(
            f"{table.file}: the column {column!r} must write each number in one way. "
            f"Received: {', '.join(names)}"
        )
    return sorted(names, key=float)
