"""`encode_frame`, which turns a pandas table into a dataset."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.tables.column import Column
from keras_vaf.datasets.tables.dates import ISO
from keras_vaf.datasets.tables.inference import (
    LeftOut,
    encode,
    encode_target,
    infer_column,
    missing_targets,
)
from keras_vaf.datasets.tables.notes import (
    describe_table,
    left_out_constants,
    left_out_index,
)
from keras_vaf.datasets.tables.problems import (
    Fault,
    LookUp,
    Problem,
    check_different,
    check_separated,
    columns_of,
    fault,
    placed,
    table_error,
)
from keras_vaf.datasets.tables.roles import Roles
from keras_vaf.datasets.tables.texts import Texts, texts_of
from keras_vaf.utils import did_you_mean

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")

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
    frame = frame.rename(columns=lambda name: str(name).strip())
    if look_up is not None:
        check_separated(list(frame.columns), roles.named, file)
    frame = _checked(frame, file, roles, is_csv=look_up is not None)
    missing = missing_targets(frame[roles.target], roles)
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
    y, classes = _collect(problems, encode_target, frame[roles.target], roles)
    parts = _divisions(frame, roles, problems)
    if not roles.allow_missing:
        problems += _missing_inputs(columns, x)
    if problems:
        raise table_error(file, placed(problems, look_up))
    columns = [replace(column, na=(*roles.na, *column.na)) for column in columns]
    columns, x, index = left_out_index(columns, x)
    columns, x, constant = left_out_constants(columns, x)
    left_out += [*index, *constant]
    if not columns:
        raise ValueError(
            f"{file}: expected a column besides the target that varies. Received: "
            + (", ".join(out.name for out in left_out) or "none")
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
    notes = describe_table(dataset, file, left_out, roles.task, dropped)
    return replace(dataset, notes=notes)


def _checked(frame: "DataFrame", file: str, roles: Roles, is_csv: bool) -> "DataFrame":
    """Return the table without empty rows, if it has all columns with a role."""
    if roles.na:
        frame = frame.replace(dict.fromkeys(roles.na, np.nan))
    check_different(frame.columns, file)
    for name, role in roles.named.items():
        if name not in frame.columns:
            raise ValueError(
                f"{file} has no column {name!r} to use as {role}."
                f"{did_you_mean(name, frame.columns)} Name one of its columns: "
                f"{columns_of(frame, is_csv)}"
            )
    inputs = [name for name in frame.columns if name not in _no_inputs(roles)]
    if not inputs:
        raise ValueError(f"{file}: expected a column besides the target")
    if not frame.iloc[:, 0].isna().any():
        return frame
    empty = frame.isna().all(axis=1)
    return frame[~empty] if empty.any() else frame


def _no_inputs(roles: Roles) -> set[str | None]:
    return {roles.target, roles.groups, roles.time, *roles.ignore}


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
            column = infer_column(series, texts, roles)
            if not isinstance(column, LeftOut):
                ignore = {"ignore": (names[place],)}
                values[place], column = encode(series, column, texts, **ignore)
        except Fault as error:
            return error.problem
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
    except Fault as error:
        problems.append(error.problem)
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
        column = infer_column(series, texts, replace(roles, categories=()))
        if isinstance(column, LeftOut) or column.kind not in ("number", "date"):
            must = f"is the time and must hold numbers or dates ({ISO} is best)"
            raise fault(series, must, 0)
        times, _ = encode(series, column, texts)
        if (missing := np.isnan(times)).any():
            must = "is the time; fill in its missing entries, or remove their rows"
            raise fault(series, must, int(missing.argmax()))
    except Fault as error:
        # A row without a time has no place among the others.
        dates = {k: v for k, v in error.problem.fix.items() if k == "dates"}
        problems.append(replace(error.problem, fix=dates))
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
