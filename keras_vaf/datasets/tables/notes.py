"""`describe`, which states the decisions about a table as sentences."""

from collections.abc import Iterator, Mapping

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES
from keras_vaf.datasets.tables.files import Table, listed
from keras_vaf.utils import readable, visible

_MOST_NAMES = 12  # names in one sentence
_TITLES = {
    "number": "Numbers",
    "category": "Categories (with their number of values)",
    "boolean": "True or false, as 1 and 0",
    "date": "Dates, as days since 1970-01-01",
}


def describe(
    dataset: Dataset, table: Table, left_out: Mapping[str, str], task: Task | None
) -> tuple[str, ...]:
    """Return the decisions about a table, one sentence per decision.

    `left_out` has the reasons for columns, and `task` is that of the user.
    """
    rows, inputs = dataset.x.shape
    comma = "decimal comma, " * (table.decimal == ",")
    form = f" (separated by {table.separator!r}, {comma}{table.encoding})"
    notes = [
        f"{table.name}: {rows:,} rows, {inputs} input{'s' * (inputs != 1)}"
        f"{form * bool(table.separator)}."
    ]
    if dropped := len(table.frame) - rows:
        notes.append(f"Left out {dropped:,} rows without a target.")
    notes.append(_target(dataset, task))
    for kind, title in _TITLES.items():
        found = [
            f"{c.name} ({detail})" if (detail := len(c.names) or c.format) else c.name
            for c in dataset.columns
            if c.kind == kind
        ]
        notes += [f"{title}: {listed(found, _MOST_NAMES)}."] if found else []
    missing = zip(dataset.feature_names, np.isnan(dataset.x).sum(axis=0), strict=True)
    if names := [f"{name} ({count:,})" for name, count in missing if count]:
        notes.append(
            f"Missing entries: {listed(names, _MOST_NAMES)}. Numbers are filled in by "
            "the mean of the training rows, categories by the most frequent one."
        )
    notes += [f"Left out column {name!r}: {why}." for name, why in left_out.items()]
    notes += [f"Warning: {text}" for text in _warnings(dataset)]
    return tuple(map(visible, notes))


def _target(dataset: Dataset, task: Task | None) -> str:
    name, classes = dataset.target, dataset.class_names
    if classes is None:
        y = dataset.y.astype(np.float64)
        low, mean, high = map(readable, (y.min(), y.mean(), y.max()))
        return f"Target {name!r}: a regression, from {low} to {high}, mean {mean}."
    text = f"{len(classes)} classes ({listed(classes, _MOST_NAMES)})"
    numbers = task is None and {*"".join(classes)} <= {*"+-.e0123456789"}
    advice = "; use `--task regression` if they are numbers to predict" * numbers
    return f"Target {name!r}: taken as {text}{advice}."


def _warnings(dataset: Dataset) -> Iterator[str]:
    names = dataset.class_names or ()
    rows = np.bincount(dataset.y, minlength=len(names)).tolist() if names else ()
    if few := [f"{n!r} ({r})" for n, r in zip(names, rows, strict=True) if r < 3]:
        yield (
            f"{listed(few, _MOST_NAMES)}: classes of 1 or 2 rows cannot be trained, "
            "selected and tested on different rows. Add rows, or remove these classes."
        )
    for column, values in zip(dataset.columns, dataset.x.T, strict=True):
        steps = np.diff(values)
        if len(column.names) > MOST_CATEGORIES:
            yield (
                f"column {column.name!r} has {len(column.names):,} categories. The "
                f"{MOST_CATEGORIES} most frequent ones of the training rows get an "
                "input; the others count as unknown."
            )
        if column.kind == "number" and (steps == 1).all():
            yield f"column {column.name!r} counts the rows. `--ignore` leaves it out."
        if column.kind == "date" and dataset.times is None and (steps >= 0).all():
            yield (
                f"column {column.name!r} holds dates that increase. Use `--time "
                f"{column.name}` if later rows are to be predicted."
            )
