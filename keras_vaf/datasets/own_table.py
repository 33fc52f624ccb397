"""Turn a pandas table into a dataset: `encode_frame`."""

import itertools
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task

if TYPE_CHECKING:
    from pandas import DataFrame, Series

MISSING = frozenset(("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null"))
"""Cells that stand for a missing entry."""

# Whole numbers with no more different values than this are read as class labels.
_MOST_CLASSES = 20

# Columns that one error message lists.
_MOST_LISTED = 20

_NUMBER_CHARACTERS = b"0123456789+-.eE"


class Fault(Exception):
    """A column that cannot be used as it is.

    Args:
        column: Its name.
        text: What the column must hold.
        row: Row of the first cell that differs, as the table's index names it.
        is_text: Whether the column holds text, which could be categories.
    """

    def __init__(self, column: str, text: str, row: int, is_text: bool = False) -> None:
        super().__init__(column, text, row)
        self.column = column
        self.text = text
        self.row = row
        self.is_text = is_text


LookUp = Callable[[Sequence[Fault]], list[tuple[str, str]]]
"""For each fault, returns the place of its cell, such as "line 3", and the cell."""


class Column:
    """A column of a table, as text, as numbers and as indices of names."""

    def __init__(self, series: "Series") -> None:
        self.series = series

    @cached_property
    def cells(self) -> list[str]:
        """The cells without blanks around them, and "" for a missing entry."""
        cells = self.series.astype(object).where(self.series.notna(), "")
        text = [str(cell).strip() for cell in cells]
        if MISSING.isdisjoint(text):
            return text
        return ["" if cell in MISSING else cell for cell in text]

    @cached_property
    def floats(self) -> np.ndarray | None:
        """The cells as float64; None unless all are plain numbers or missing."""
        if self.series.dtype.kind in "iuf":
            return np.asarray(self.series, np.float64)
        return _to_floats(self.cells)

    def numbers(self) -> np.ndarray:
        """Return the column as float32, with NaN for a missing entry."""
        if self.floats is None:
            raise self._not_numbers()
        with np.errstate(over="ignore"):
            numbers = self.floats.astype(np.float32)
        infinite = np.isinf(numbers)
        if infinite.any():
            must = "must hold finite numbers in the range of float32"
            raise self.fault(must, int(infinite.argmax()))
        return numbers

    def codes(self) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the index of each cell, -1 for a missing one, and the sorted names."""
        names = sorted({*self.cells} - {""})
        if _to_floats(names) is not None:
            names.sort(key=float)
            for one, other in itertools.pairwise(names):
                if float(one) == float(other):
                    must = f"must write each number in one way, such as {one}"
                    raise self.fault(must, self.cells.index(other))
        indices = {name: index for index, name in enumerate(names)} | {"": -1}
        return np.array([indices[cell] for cell in self.cells], np.int64), tuple(names)

    def targets(self, task: Task | None) -> tuple[np.ndarray, tuple[str, ...] | None]:
        """Return the targets, and the names of the classes for a classification."""
        if self.floats is None:
            missing = np.array([not cell for cell in self.cells])
        else:
            missing = np.isnan(self.floats)
        if missing.any():
            must = "is the target and must not have missing entries; fill in or remove "
            raise self.fault(must + "rows", int(missing.argmax()))
        if task == "regression" or (task is None and not self._holds_labels()):
            return self.numbers(), None
        codes, names = self.codes()
        if len(names) < 2:
            raise self.fault("is the target and must hold at least two classes", 0)
        return codes, names

    def fault(self, text: str, position: int, is_text: bool = False) -> Fault:
        """Return the error about a cell."""
        return Fault(self.series.name, text, self.series.index[position], is_text)

    def _not_numbers(self) -> Fault:
        position, cell = next(
            (n, cell) for n, cell in enumerate(self.cells) if _to_floats([cell]) is None
        )
        if _reads_as_number(cell):
            must = "must write numbers with the digits 0 to 9, such as -1.5 or 2e3"
            return self.fault(must, position)
        return self.fault("must hold numbers", position, is_text=True)

    def _holds_labels(self) -> bool:
        if self.floats is None:  # Numbers in other digits are an error later.
            return not all(map(_reads_as_number, self.cells))
        values = np.unique(self.floats).tolist()
        return len(values) <= _MOST_CLASSES and all(map(float.is_integer, values))


def encode_frame(
    frame: "DataFrame",
    file: str,
    target: str,
    task: Task | None,
    categories: Collection[str],
    source: str,
    look_up: LookUp,
) -> Dataset:
    """Check the columns of a table and turn them into a dataset.

    Args:
        frame: The table. Missing entries are NaN, or text that is in `MISSING`.
        file: Name of the table for error messages; without its ending, the name of
            the dataset.
        target: Name of the column to predict.
        task: What the table is for; `None` decides by the values of the target.
        categories: Names of the input columns that hold categories.
        source: Where the table comes from.
        look_up: Finds the cells that an error message quotes.

    Returns:
        The dataset. Rows without any entry are left out.

    Raises:
        ValueError: If columns cannot be used. One message lists all of them.
    """
    _check_columns(frame, file, target, categories)
    empty = frame.isna().all(axis=1)
    if empty.any():
        frame = frame[~empty]
    if frame.empty:
        raise ValueError(f"{file}: expected at least one row of data. Received: none")
    faults, names = [], {}
    features = [name for name in frame.columns if name != target]
    x = np.empty((len(frame), len(features)), np.float32)
    for position, feature in enumerate(features):
        column = Column(frame[feature])
        try:
            if feature in categories:
                codes, names[position] = column.codes()
                x[:, position] = np.where(codes < 0, np.nan, codes)
            else:
                x[:, position] = column.numbers()
        except Fault as fault:
            faults.append(fault)
    try:
        y, class_names = Column(frame[target]).targets(task)
    except Fault as fault:
        faults.append(fault)
    if faults:
        raise ValueError(_message(file, faults, target, look_up))
    return Dataset(
        name=file.rpartition(".")[0] or file,
        task="regression" if class_names is None else "classification",
        x=x,
        y=y,
        feature_names=tuple(features),
        class_names=class_names,
        categories=names,
        source=source,
    )


def _check_columns(
    frame: "DataFrame", file: str, target: str, categories: Collection[str]
) -> None:
    roles = {target: "the target", **dict.fromkeys(categories, "a category")}
    for name, role in roles.items():
        if name not in frame.columns:
            raise ValueError(
                f"{file} has no column {name!r} to take as {role}. "
                f"Its columns: {', '.join(frame.columns)}"
            )
    if len(frame.columns) == 1:
        raise ValueError(f"{file}: expected a column besides the target")


def _to_floats(cells: list[str]) -> np.ndarray | None:
    """Return plain numbers as float64, or None if a cell is neither one nor missing."""
    if "".join(cells).encode().translate(None, _NUMBER_CHARACTERS):
        return None  # `float` accepts more: 1_000, inf, digits of other scripts.
    try:
        return np.array([float(cell or "nan") for cell in cells])
    except ValueError:
        return None


def _reads_as_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _message(file: str, faults: Sequence[Fault], target: str, look_up: LookUp) -> str:
    listed = faults[:_MOST_LISTED]
    lines = [
        f"{place}: column {fault.column!r} {fault.text}. Received: {cell!r}"
        for fault, (place, cell) in zip(listed, look_up(listed), strict=True)
    ]
    if len(faults) > len(listed):
        lines.append(f"and {len(faults) - len(listed)} more columns")
    text = [f.column for f in listed if f.is_text and f.column != target]
    if text:
        lines.append(
            f"Name columns of text in `categories` ({','.join(text)}), replace their "
            "text by numbers, or remove the columns."
        )
    if len(faults) == 1:
        return f"{file}, {'. '.join(lines)}"
    return "\n".join([f"{file}: {len(faults)} columns cannot be used.", *lines])
