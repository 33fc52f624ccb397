"""`encode_frame` and `encode_rows`, which turn tables into arrays of numbers."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.tables.column import Cells, Column
from keras_vaf.datasets.tables.formats import ISO
from keras_vaf.datasets.tables.inference import (
    LeftOut,
    Roles,
    check_target,
    infer_column,
    infer_target,
)
from keras_vaf.datasets.tables.notes import describe_table, informative
from keras_vaf.datasets.tables.problems import Odd, check_columns, listed
from keras_vaf.datasets.tables.sources import Table
from keras_vaf.utils import did_you_mean

_THREADS = 4


def encode_frame(table: Table, roles: Roles) -> Dataset:
    """Check the columns of a table and turn them into a dataset.

    Returns:
        The dataset. Rows without any entry and rows without a target are left out.

    Raises:
        TableError: If columns cannot be used. One message lists all of them.
        ValueError: If the table lacks a column or rows.
    """
    table = _checked(table, roles)
    odd: list[Odd] = []
    y, classes, missing = _target(table, roles, odd)
    if missing.any() and not roles.allow_missing:
        must = f"is the target and misses {missing.sum()} of {len(missing)} entries"
        odd.append(Odd(roles.target, must, fix={"allow_missing": True}))
    table = replace(table, frame=table.frame[~missing]) if missing.any() else table
    columns, x, left_out = _inputs(table, roles, odd)
    parts = _divisions(table, roles, odd)
    for place, column in enumerate(() if roles.allow_missing else columns):
        if count := int(np.isnan(x[:, place]).sum()):
            must = f"misses {count} of {len(x)} entries"
            odd.append(Odd(column.name, must, fix={"allow_missing": True}))
    if odd:
        raise table.error(odd)
    columns, x, others = informative(columns, x)
    left_out += others
    if not columns:
        raise ValueError(
            f"{table.name}: expected a column besides the target that varies. Received:"
            f" {', '.join(out.name for out in left_out) or 'none'}"
        )
    dataset = Dataset(
        name="table" if table.path is None else table.path.stem,
        task="regression" if classes is None else "classification",
        x=x,
        y=y[~missing].astype(np.float32 if classes is None else np.int64),
        feature_names=tuple(column.name for column in columns),
        class_names=classes,
        categories={n: c.names for n, c in enumerate(columns) if c.kind == "category"},
        source="a pandas table" if table.path is None else str(table.path),
        columns=tuple(columns),
        target=roles.target,
        **parts,
    )
    notes = describe_table(dataset, table, left_out, roles.task, int(missing.sum()))
    return replace(dataset, notes=notes)


def encode_rows(
    columns: Sequence[Column], table: Table, unread: list[str] | None = None
) -> np.ndarray:
    """Return rows of a table as an array of numbers, for a network.

    Args:
        columns: The columns of the network.
        table: The table, at least with these columns. Other columns are ignored.
        unread: List of sentences, to which this function adds those on unknown words
            that it takes as missing entries. `None` raises an error for such words.

    Returns:
        A float32 array of shape `(rows, columns)`.

    Raises:
        TableError: If columns are missing, or if a column has cells that it cannot
            read. The message lists all such columns.
        ValueError: If the columns have different numbers of rows.
    """
    wanted = {column.name for column in columns}
    names = dict.fromkeys(table.names)
    check_columns(table.names, table.name, wanted if table.file else ())
    encoded, problems = [], []
    for column in columns:
        if column.name in names:
            cells = table.cells(column.name, column)
            values, odd = column.read(cells)
            encoded.append(values)
            if not odd.any():
                continue
            problem = column.odd_cells(cells, odd)
            words = listed([repr(word) for word in problem.fix.get("na", ())])
            if words and unread is not None:
                values[odd] = np.nan
                unread.append(
                    f"Column {column.name!r}: {odd.sum():,} of {len(odd):,} cells are "
                    f"not of the kind of this column and count as missing: {words}."
                )
                continue
            problem.fix = {}  # `TableEncoder.encode` has no such arguments
        else:
            hint = did_you_mean(column.name, [n for n in names if n not in wanted])
            must = f"is missing; add it, or rename another column.{hint}"
            problem = Odd(column.name, must)
        problems.append(problem)
    if problems:
        raise table.error(problems, f"Columns of the table: {table.columns}")
    if len(lengths := sorted({len(values) for values in encoded})) > 1:
        raise ValueError(
            "All columns must have the same number of rows. Received: columns of "
            f"{', '.join(map(str, lengths))} rows"
        )
    return np.stack(encoded, axis=1)


def check_names(table: Table, roles: Roles) -> None:
    """Raise a `ValueError` if a table lacks a column with a role, or has no input."""
    check_columns(table.names, table.name, roles.named if table.file else ())
    for name, role in roles.named.items():
        if name not in table.names:
            raise ValueError(
                f"{table.name} has no column {name!r} to use as {role}."
                f"{did_you_mean(name, table.names)} Name one of its columns: "
                f"{table.columns}"
            )
    if not roles.inputs(table.names):
        raise ValueError(f"{table.name}: expected a column besides the target")


def _checked(table: Table, roles: Roles) -> Table:
    """Return a table without empty rows, after its columns were checked."""
    check_names(table, roles)
    frame = table.frame
    if frame.iloc[:, 0].isna().any():
        frame = frame[~frame.isna().all(axis=1)]
    if frame.empty:
        raise ValueError(f"{table.name}: expected at least one row of data")
    return replace(table, frame=frame)


def _read(cells: Cells, column: Column, **fix: Any) -> np.ndarray:
    """Return cells as numbers, or raise the error about odd cells."""
    values, odd = column.read(cells)
    if odd.any():
        raise column.odd_cells(cells, odd, **fix)
    return values


def _target(
    table: Table, roles: Roles, odd: list[Odd]
) -> tuple[np.ndarray, tuple[str, ...] | None, np.ndarray]:
    """Return the targets, the names of the classes, and the mask of missing targets."""
    cells = table.cells(roles.target)
    try:
        column = infer_target(cells, roles)
        y = _read(cells, column)
        missing = np.isnan(y)
        if missing.all():
            raise ValueError(
                f"{table.name}: column {roles.target!r} is the target and has no "
                "entry. Name a column that has some, or fill it in."
            )
        check_target(cells, column, y)
        return y, column.names or None, missing
    except Odd as problem:
        odd.append(problem)
        return np.empty(0), None, np.zeros(len(cells), bool)


def _inputs(
    table: Table, roles: Roles, odd: list[Odd]
) -> tuple[list[Column], np.ndarray, list[LeftOut]]:
    """Return the input columns with their values, and the columns left out."""
    names = roles.inputs(table.names)
    # A row of this array is a column of the table, which is faster to write.
    values = np.empty((len(names), len(table.frame)), np.float32)

    def read(place: int) -> Column | LeftOut | Odd:
        cells = table.cells(names[place])
        try:
            column = infer_column(cells, roles)
            if isinstance(column, Column):
                values[place] = _read(cells, column, ignore=(cells.name,))
                column = replace(column, na=(*roles.na, *column.na))
        except Odd as problem:
            return problem
        return column

    # Text takes longest, so it comes first. pandas and NumPy do most of the work,
    # without Python's lock.
    kinds = {name: table.frame[name].dtype.kind for name in names}
    order = sorted(range(len(names)), key=lambda place: kinds[names[place]] in "iuf")
    with ThreadPoolExecutor(_THREADS) as threads:
        read_columns = dict(zip(order, threads.map(read, order), strict=True))
    found = [read_columns[place] for place in range(len(names))]
    odd += [each for each in found if isinstance(each, Odd)]
    left_out = [each for each in found if isinstance(each, LeftOut)]
    columns = [each for each in found if isinstance(each, Column)]
    if len(columns) < len(found):
        values = values[[isinstance(each, Column) for each in found]]
    return columns, values.T, left_out


def _divisions(table: Table, roles: Roles, odd: list[Odd]) -> dict[str, Any]:
    """Return the groups or times that determine which rows may share a fold."""
    if roles.groups is not None:
        cells = table.cells(roles.groups)
        codes, _ = Column("", "category", tuple(cells.names)).read(cells)
        return {"groups": np.nan_to_num(codes, nan=-1).astype(np.int64)}
    if roles.time is None:
        return {}
    cells = table.cells(roles.time)
    try:
        column = infer_column(cells, replace(roles, categories=()))
        if isinstance(column, LeftOut) or column.kind not in ("number", "date"):
            must = f"is the time and must hold numbers or dates ({ISO} is best)"
            raise cells.odd(must)
        times = _read(cells, column)
        if (missing := np.isnan(times)).any():
            must = "is the time; fill in its missing entries, or remove their rows"
            raise cells.odd(must, int(missing.argmax()))
        return {"times": times}
    except Odd as problem:
        # A row without a time has no place among the others.
        problem.fix = {k: v for k, v in problem.fix.items() if k == "dates"}
        odd.append(problem)
        return {}
