"""`encode_frame`, which turns a pandas table into a dataset."""

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.tables.column import ISO, Column
from keras_vaf.datasets.tables.inference import (
    Fault,
    LeftOut,
    encode,
    encode_target,
    infer_column,
)
from keras_vaf.datasets.tables.notes import describe_table, left_out_constants
from keras_vaf.datasets.tables.problems import MOST_LISTED, Problem, table_error
from keras_vaf.datasets.tables.roles import Roles
from keras_vaf.datasets.tables.texts import Texts, texts_of
from keras_vaf.utils import did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame, Series

T = TypeVar("T")
LookUp = Callable[[Collection[Any]], dict[Any, tuple[str, dict[str, str]]]]

_THREADS = 4


def encode_frame(
    frame: "DataFrame",
    file: str,
    name: str,
    source: str,
    roles: Roles,
    look_up: LookUp | None = None,
) -> Dataset:
    """Check the columns of a table and turn them into a dataset.

    Args:
        frame: The table. Missing entries are NaN or a word that stands for them.
        file: Name of the table for error messages.
        name: Name of the dataset.
        source: Origin of the table.
        roles: What the columns are for.
        look_up: Function that finds the cells that an error message quotes.

    Returns:
        The dataset. Rows without any entry and rows without a target are left out.

    Raises:
        TableError: If columns cannot be used. One message lists all of them.
    """
    frame = _checked(frame, file, roles)
    missing = _missing_target(frame[roles.target])
    problems: list[Problem] = []
    if missing.any() and not roles.allow_missing:
        must = f"is the target and misses {missing.sum()} of {len(frame)} entries"
        problems.append(Problem(roles.target, must, fix={"allow_missing": True}))
    if missing.any():
        frame = frame[~missing]
    if frame.empty and missing.any():
        raise ValueError(
            f"{file}: column {roles.target!r} is the target and has no entry. Name a "
            "column that has some, or fill it in."
        )
    if frame.empty:
        raise ValueError(f"{file}: expected at least one row of data. Received: none")
    columns, x, left_out = _inputs(frame, roles, problems)
    y, classes = _collect(problems, encode_target, frame[roles.target], roles.task)
    parts = _divisions(frame, roles, problems)
    if not roles.allow_missing:
        problems += _missing_inputs(columns, x)
    if problems:
        raise table_error(file, _placed(problems, frame, look_up))
    columns = [replace(column, na=roles.na) for column in columns]
    columns, x, constant = left_out_constants(columns, x)
    if not columns:
        raise ValueError(
            f"{file}: expected a column besides the target that varies. Received: "
            + (", ".join(out.name for out in (*left_out, *constant)) or "none")
        )
    dataset = Dataset(
        name=name,
        task="regression" if classes is None else "classification",
        x=x,
        y=y,
        feature_names=tuple(column.name for column in columns),
        class_names=classes,
        categories={n: c.names for n, c in enumerate(columns) if c.kind == "category"},
        source=source,
        columns=tuple(columns),
        target=roles.target,
        groups=parts.get("groups"),
        times=parts.get("times"),
    )
    dropped = int(missing.sum())
    notes = describe_table(dataset, file, (*left_out, *constant), roles.task, dropped)
    return replace(dataset, notes=notes)


def _checked(frame: "DataFrame", file: str, roles: Roles) -> "DataFrame":
    """Return the table with text as column names, and without empty rows."""
    frame = frame.rename(columns=lambda name: str(name).strip())
    if roles.na:
        frame = frame.replace(dict.fromkeys(roles.na, np.nan))
    repeated = sorted(set(frame.columns[frame.columns.duplicated()]))
    if repeated:
        raise ValueError(
            f"{file}: column names must differ. Received twice: {repeated}"
        )
    for name, role in roles.named.items():
        if name not in frame.columns:
            hint = ""
            if len(frame.columns) == 1:
                hint = " Are its cells separated by another character (`separator`)?"
            raise ValueError(
                f"{file} has no column {name!r} to use as {role}."
                f"{did_you_mean(name, frame.columns)} Its columns: "
                f"{_listed(frame.columns)}.{hint}"
            )
    inputs = [name for name in frame.columns if name not in _no_inputs(roles)]
    if not inputs:
        raise ValueError(f"{file}: expected a column besides the target")
    if not frame.iloc[:, 0].isna().any():
        return frame
    empty = frame.isna().all(axis=1)
    return frame[~empty] if empty.any() else frame


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    text = ", ".join(names[:MOST_LISTED])
    return f"{text} and {more} more" if more > 0 else text


def _no_inputs(roles: Roles) -> set[str | None]:
    return {roles.target, roles.groups, roles.time, *roles.ignore}


def _missing_target(series: "Series") -> np.ndarray:
    """Return the mask of the rows without a target."""
    if series.dtype.kind in "iufbM":
        return series.isna().to_numpy()
    return Texts(series).missing


def _inputs(
    frame: "DataFrame", roles: Roles, problems: list[Problem]
) -> tuple[list[Column], np.ndarray, list[LeftOut]]:
    """Return the input columns with their values, and the columns left out."""
    names = [name for name in frame.columns if name not in _no_inputs(roles)]
    # A row of this array is a column of the table, which is faster to write.
    values = np.empty((len(names), len(frame)), np.float32)

    def read(place: int) -> Column | LeftOut | Problem:
        series = frame[names[place]]
        try:
            texts = texts_of(series)
            column = infer_column(series, texts, roles.categories, roles.dates)
            if not isinstance(column, LeftOut):
                values[place] = encode(series, column, texts, ignore=(names[place],))
        except Fault as fault:
            return fault.problem
        return column

    # Text takes longest, so it comes first. pandas and NumPy do most of the work,
    # without Python's lock.
    order = sorted(range(len(names)), key=lambda i: frame[names[i]].dtype.kind in "iuf")
    with ThreadPoolExecutor(_THREADS) as threads:
        read_columns = dict(zip(order, threads.map(read, order), strict=True))
    found = [read_columns[place] for place in range(len(names))]
    problems += [each for each in found if isinstance(each, Problem)]
    left_out = [each for each in found if isinstance(each, LeftOut)]
    kept = [isinstance(each, Column) for each in found]
    columns = [each for each in found if isinstance(each, Column)]
    values = values if all(kept) else values[kept]
    return columns, values.T, left_out


def _collect(
    problems: list[Problem], function: Callable[..., tuple], *arguments: Any
) -> tuple:
    try:
        return function(*arguments)
    except Fault as fault:
        problems.append(fault.problem)
        return None, None


def _divisions(
    frame: "DataFrame", roles: Roles, problems: list[Problem]
) -> dict[str, np.ndarray]:
    """Return the groups or times that determine which rows may share a fold."""
    if roles.groups is not None:
        groups = Column("", "category", tuple(Texts(frame[roles.groups]).names))
        codes = groups.encode(frame[roles.groups])
        return {"groups": np.nan_to_num(codes, nan=-1).astype(np.int64)}
    if roles.time is None:
        return {}
    series = frame[roles.time]
    try:
        texts = texts_of(series)
        column = infer_column(series, texts, (), roles.dates)
        if isinstance(column, LeftOut) or column.kind not in ("number", "date"):
            must = f"is the time and must hold numbers or dates ({ISO} is best)"
            raise Fault(Problem(roles.time, must, series.index[0]))
        times = encode(series, column, texts)
        if np.isnan(times).any():
            must = "is the time and must not have missing entries"
            raise Fault(
                Problem(roles.time, must, series.index[np.isnan(times).argmax()])
            )
    except Fault as fault:
        problems.append(fault.problem)
        return {}
    return {"times": times}


def _missing_inputs(columns: Sequence[Column], x: np.ndarray) -> list[Problem]:
    return [
        Problem(
            column.name,
            f"misses {count} of {len(x)} entries",
            fix={"allow_missing": True},
        )
        for column, count in zip(columns, np.isnan(x).sum(axis=0), strict=True)
        if count
    ]


def _placed(
    problems: Sequence[Problem], frame: "DataFrame", look_up: LookUp | None
) -> list[Problem]:
    """Return the problems with the position and the text of their cells."""
    rows = {problem.row for problem in problems if problem.row is not None}
    found = look_up(rows) if look_up is not None and rows else {}
    placed = []
    for problem in problems:
        if problem.row is None:
            placed.append(problem)
            continue
        # A line of quoted spaces is a row only for pandas.
        place, cells = found.get(problem.row, (f"row {problem.row}", {}))
        cell = cells.get(problem.column)
        if cell is None:
            cell = str(frame[problem.column].loc[problem.row])
        placed.append(replace(problem, place=place, cell=cell))
    return placed
