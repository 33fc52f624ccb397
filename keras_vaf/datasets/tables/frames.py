"""`encode_frame` and `encode_rows`, which turn tables into arrays of numbers."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.tables.column import Cells, Column
from keras_vaf.datasets.tables.inference import LeftOut, Roles, infer
from keras_vaf.datasets.tables.notes import describe_table, informative
from keras_vaf.datasets.tables.problems import Odd, listed
from keras_vaf.datasets.tables.sources import Table
from keras_vaf.utils import did_you_mean

_THREADS = 4

Read = tuple[Column | LeftOut | Odd, np.ndarray]


def encode_frame(table: Table, roles: Roles) -> Dataset:
    """Check the columns of a table and turn them into a dataset.

    Returns:
        The dataset. Rows without any entry and rows without a target are left out.

    Raises:
        TableError: If columns cannot be used. One message lists all of them.
        ValueError: If the table lacks an input or rows.
    """
    divisions = roles.groups, roles.time
    others = {roles.target, *divisions, *roles.ignore}
    names = [name for name in table.names if name not in others]
    if not names:
        raise ValueError(f"{table.name}: expected a column besides the target")
    table = _with_entries(table)
    target, y = _read(table, roles.target, roles)
    missing = np.isnan(y)
    if missing.all():
        raise ValueError(
            f"{table.name}: column {roles.target!r} is the target and has no "
            "entry. Name a column that has some, or fill it in."
        )
    table = replace(table, frame=table.frame[~missing]) if missing.any() else table
    names += [name for name in divisions if name is not None]
    found = _read_all(table, names, roles)
    odd = [each for each, _ in [(target, y), *found.values()] if isinstance(each, Odd)]
    odd.sort(key=lambda each: each.which is None and each is not target)
    groups, times = (found.pop(name)[1] if name else None for name in divisions)
    if groups is not None:
        groups = np.nan_to_num(groups, nan=-1).astype(np.int64)
    columns, x, left_out = _inputs(found, len(table.frame))
    if odd:
        raise table.error(odd)
    if not columns:
        raise ValueError(
            f"{table.name}: expected a column besides the target that varies. Received:"
            f" {', '.join(out.name for out in left_out) or 'none'}"
        )
    classes = (target.names or None) if isinstance(target, Column) else None
    dataset = Dataset(
        name="table" if table.path is None else table.path.stem,
        task="regression" if classes is None else "classification",
        x=x,
        y=y[~missing].astype(np.float32 if classes is None else np.int64),
        feature_names=tuple(column.name for column in columns),
        class_names=classes,
        categories={n: c.names for n, c in enumerate(columns) if c.kind == "category"},
        source="a pandas table" if table.path is None else str(table.path),
        columns=tuple(replace(c, na=(*roles.na, *c.na)) for c in columns),
        target=roles.target,
        groups=groups,
        times=times,
    )
    notes = describe_table(dataset, table, left_out, roles.task, int(missing.sum()))
    return replace(dataset, notes=notes)


def _with_entries(table: Table) -> Table:
    """Return a table without empty rows."""
    frame = table.frame
    if frame.iloc[:, 0].isna().any():
        frame = frame[~frame.isna().all(axis=1)]
    if frame.empty:
        raise ValueError(f"{table.name}: expected at least one row of data")
    return replace(table, frame=frame)


def encode_rows(
    columns: Sequence[Column], table: Table, unread: list[str] | None = None
) -> np.ndarray:
    """Return rows of a table as an array of numbers, as `TableEncoder.encode` does.

    Args:
        columns: The columns of the network.
        table: The table.
        unread: List of sentences, to which this function adds those on unknown words
            that it takes as missing entries. `None` raises an error for such words.
    """
    wanted = {column.name for column in columns}
    table.check_separator(wanted)
    names = dict.fromkeys(table.names)
    encoded, problems = [], []
    for column in columns:
        if column.name in names:
            cells = _cells(table, column.name, column)
            values, odd = column.read(cells)
            encoded.append(values)
            if not odd.any():
                continue
            problem = cells.located(column.problem(cells, odd))
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
            others = [name for name in names if name not in wanted]
            hint = did_you_mean(column.name, others)
            must = f"is missing; add it, or rename another column.{hint}"
            problem = Odd(must, column=column.name)
        problems.append(problem)
    if problems:
        raise table.error(problems, f"Columns of the table: {table.columns}")
    if len(lengths := sorted({len(values) for values in encoded})) > 1:
        raise ValueError(
            "All columns must have the same number of rows. Received: columns of "
            f"{', '.join(map(str, lengths))} rows"
        )
    return np.stack(encoded, axis=1)


def _cells(table: Table, name: str, column: Column | None = None) -> Cells:
    """Return the cells of a column.

    Args:
        table: The table.
        name: Name of the column.
        column: Its encoding in a network. Messages count its rows from 1 then, and
            numbers with signs or marks keep them.
    """
    decimal = None if column is not None and column.format else table.decimal
    rows = None if column is not None and table.file is None else table.frame.index
    return Cells(table.frame[name], name, table.na, decimal, rows)


def _read(table: Table, name: str, roles: Roles) -> Read:
    """Return how a column is used or what is odd about it, and its values."""
    cells = _cells(table, name)
    values = np.zeros(len(cells), np.float32)
    try:
        column = infer(cells, roles)
        if isinstance(column, LeftOut):
            return column, values
        read, odd = column.read(cells)
        if odd.any():
            fix = {} if name == roles.target else {"ignore": (name,)}
            raise column.problem(cells, odd, **fix)
        missing = np.isnan(read)
        if name == roles.target and not missing.all():
            column.check_target(cells, read)
        values = read
        if name == roles.time and missing.any():
            must = "is the time; fill in its missing entries, or remove their rows"
            raise Odd(must, int(missing.argmax()))
        if missing.any() and name != roles.groups and not roles.allow_missing:
            must = f"misses {missing.sum()} of {len(missing)} entries"
            must = f"is the target and {must}" if name == roles.target else must
            raise Odd(must, None, {"allow_missing": True})
        return column, values
    except Odd as problem:
        if name == roles.time:  # a row without a time has no place among the others
            problem.fix = {k: v for k, v in problem.fix.items() if k == "dates"}
        return cells.located(problem), values


def _read_all(table: Table, names: Sequence[str], roles: Roles) -> dict[str, Read]:
    """Read the columns of these names."""
    # Text takes longest, so it comes first. pandas and NumPy do most of the work,
    # without Python's lock.
    order = sorted(names, key=lambda name: table.frame[name].dtype.kind in "iuf")
    with ThreadPoolExecutor(_THREADS) as threads:
        read = threads.map(lambda name: _read(table, name, roles), order)
        found = dict(zip(order, read, strict=True))
    return {name: found[name] for name in names}


def _inputs(
    found: dict[str, Read], rows: int
) -> tuple[list[Column], np.ndarray, list[LeftOut]]:
    """Return the input columns with their values, and the columns left out."""
    left_out = [each for each, _ in found.values() if isinstance(each, LeftOut)]
    columns = [each for each, _ in found.values() if isinstance(each, Column)]
    # A row of this array is a column of the table, which is faster to write.
    values = np.empty((len(columns), rows), np.float32)
    for place, column in enumerate(columns):
        values[place] = found.pop(column.name)[1]
    columns, x, others = informative(columns, values.T)
    return columns, x, left_out + others
