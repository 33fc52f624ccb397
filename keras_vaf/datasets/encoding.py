"""From text cells to arrays: numbers, indices of categories, class indices."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.parsers import Table, problem


def column_index(table: Table, name: str, role: str) -> int:
    """Return the position of a column, or list the names that there are."""
    if name not in table.names:
        raise ValueError(
            f"{table.file} has no column {name!r} to take as {role}. "
            f"Its columns: {', '.join(table.names)}"
        )
    return table.names.index(name)


def is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def encode_numbers(table: Table, index: int, missing: Collection[str]) -> np.ndarray:
    """Return one column as float32, with NaN where a cell is a mark of `missing`."""
    name, column = table.names[index], table.column(index)
    cells = ["nan" if cell in missing else cell for cell in column]
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(list(map(float, cells)), dtype=np.float32)
    except ValueError:
        row = next(row for row, cell in enumerate(cells) if not is_number(cell))
        raise problem(
            table.file,
            table.lines[row],
            f"column {name!r} must hold numbers; name it in `categories`, replace its "
            f"text by numbers, or remove it. Received: {column[row]!r}",
        ) from None
    for row in np.flatnonzero(~np.isfinite(numbers)).tolist():
        if column[row] not in missing:
            raise problem(
                table.file,
                table.lines[row],
                f"column {name!r} must hold finite numbers in the range of float32. "
                f"Received: {column[row]!r}",
            )
    return numbers


def encode_names(
    table: Table, index: int, names: Sequence[str], missing: Collection[str] = ()
) -> np.ndarray:
    """Return the index in `names` of each cell, and -1 where it is missing."""
    indices = {name: position for position, name in enumerate(names)}
    indices |= dict.fromkeys(missing, -1)
    column = table.column(index)
    for line, cell in zip(table.lines, column, strict=True):
        if cell not in indices:
            raise problem(
                table.file,
                line,
                f"column {table.names[index]!r} must hold one of "
                f"{', '.join(map(repr, names))}. Received: {cell!r}",
            )
    return np.array([indices[cell] for cell in column], dtype=np.int64)


def encode_inputs(
    table: Table,
    columns: Sequence[int],
    categories: Mapping[str, Sequence[str]],
    missing: Collection[str],
) -> np.ndarray:
    """Return the columns as float32, categories as indices, NaN where missing."""
    x = np.empty((len(table.rows), len(columns)), dtype=np.float32)
    for position, index in enumerate(columns):
        names = categories.get(table.names[index])
        if names is None:
            x[:, position] = encode_numbers(table, index, missing)
        else:
            codes = encode_names(table, index, names, missing)
            x[:, position] = np.where(codes < 0, np.nan, codes)
    return x


def encode_table(
    table: Table,
    name: str,
    target: str,
    labels: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    left_out: Collection[str] = (),
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: Collection[str] = (),
    source: str = "",
) -> Dataset:
    """Turn a table of text into a dataset.

    Args:
        table: The table.
        name: Name of the dataset.
        target: Name of the target column.
        labels: The class labels as they stand in the target column, in the order of
            their indices; `None` for regression.
        class_names: What to call the classes; the labels if `None`.
        left_out: Names of columns that are neither inputs nor target.
        categories: The names that a column of categories may hold, by column name.
        missing: Cells that stand for a missing entry.
        source: Where the table comes from.

    Returns:
        The dataset.

    Raises:
        ValueError: If a cell is not what its column must hold.
    """
    categories = categories or {}
    target_index = column_index(table, target, "the target")
    excluded = {target_index} | {
        column_index(table, column, "a column to leave out") for column in left_out
    }
    columns = [index for index in range(len(table.names)) if index not in excluded]
    if not columns:
        raise problem(table.file, 1, "expected a column besides the target")
    if labels is None:
        y = encode_numbers(table, target_index, ())
    else:
        y = encode_names(table, target_index, labels)
    features = tuple(table.names[index] for index in columns)
    return Dataset(
        name=name,
        task="regression" if labels is None else "classification",
        x=encode_inputs(table, columns, categories, missing),
        y=y,
        feature_names=features,
        class_names=None if labels is None else tuple(class_names or labels),
        categories={
            position: tuple(categories[feature])
            for position, feature in enumerate(features)
            if feature in categories
        },
        source=source,
    )
