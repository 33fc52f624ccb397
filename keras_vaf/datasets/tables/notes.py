"""`describe`, which states the decisions about a table as sentences."""

from collections.abc import Iterator, Mapping

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES
from keras_vaf.datasets.tables.files import SEPARATORS, Table, listed
from keras_vaf.utils import readable, visible

_MOST_NAMES = 12  # names in one sentence
_LEAK = 0.9999  # a correlation with the target above this is suspicious
_FEWEST_ROWS = 20  # fewer rows can match the target by chance
_TITLES = {
    "number": "Numbers",
    "category": "Categories (with their number of values)",
    "boolean": "True or false, as 1 and 0",
    "date": "Dates, as days since 1970-01-01",
}


def describe(
    dataset: Dataset,
    table: Table,
    left_out: Mapping[str, str],
    dropped: int,
    task: Task | None,
) -> tuple[str, ...]:
    """Return the decisions about a table, one sentence per decision.

    `left_out` has the reasons for columns, `dropped` counts rows without a target, and
    `task` is that of the user.
    """
    form = f" (separated by {SEPARATORS.get(table.separator, repr(table.separator))}"
    form += ", decimal comma" * (table.decimal == ",")
    form += f", {table.encoding.removesuffix('-sig').upper()})"
    count = _counted(dataset.x.shape[1], "input")
    head = f"{table.name}: {len(dataset.x):,} rows, {count}"
    notes = [f"{head}{form if table.separator else ''}."]
    if dropped:
        notes.append(f"Left out {_counted(dropped, 'row')} without a target.")
    notes.append(_target(dataset, task))
    for kind, title in _TITLES.items():
        found = [
            f"{c.name} ({detail})" if (detail := len(c.names) or c.format) else c.name
            for c in dataset.columns
            if c.kind == kind
        ]
        notes += [f"{title}: {listed(found, _MOST_NAMES)}."] if found else []
    notes += [
        f"Column {c.name!r} has numbers with leading zeros, such as {c.names[0]}. They "
        "are categories."
        for c in dataset.columns
        if all(map(str.isdecimal, c.names))
        and any(n[0] == "0" < n[1:] for n in c.names)
    ]
    missing = np.isnan(dataset.x).sum(axis=0).tolist()
    pairs = [*zip(dataset.columns, missing, strict=True)]
    names = [f"{column.name} ({count:,})" for column, count in pairs if count]
    words = sorted({word for column in dataset.columns for word in column.na})
    if names:
        read = f" {listed(words, _MOST_NAMES)} count as missing." if words else ""
        notes.append(
            f"Missing entries: {listed(names, _MOST_NAMES)}.{read} Numbers are filled "
            "in by the mean of the training rows, categories by the most frequent one."
        )
    notes += [f"Left out column {name!r}: {why}." for name, why in left_out.items()]
    return tuple(map(visible, (*notes, *map("Warning: {}".format, _warnings(dataset)))))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _target(dataset: Dataset, task: Task | None) -> str:
    name, y, classes = dataset.target, dataset.y, dataset.class_names
    if classes is None:
        y = y.astype(np.float64)
        return (
            f"Target {name!r}: a regression, values from {readable(y.min())} to "
            f"{readable(y.max())}, mean {readable(y.mean())}, standard deviation "
            f"{readable(y.std())}."
        )
    names = listed(classes, _MOST_NAMES)
    text = f"Target {name!r}: taken as {len(classes)} classes ({names})"
    if task is None and {*"".join(classes).lower()} <= {*"+-.e0123456789"}:
        text += "; use `--task regression` if they are numbers to predict"
    return f"{text}."


def _warnings(dataset: Dataset) -> Iterator[str]:
    classes, y = dataset.class_names or (), dataset.y
    rows = np.bincount(y, minlength=len(classes)).tolist() if classes else ()
    few = [f"{name!r} ({n})" for name, n in zip(classes, rows, strict=True) if n < 3]
    if few:
        yield (
            f"{listed(few, _MOST_NAMES)}: classes of 1 or 2 rows cannot be trained, "
            "selected and tested on different rows. Add rows, or remove these classes."
        )
    for column, values in zip(dataset.columns, dataset.x.T, strict=True):
        name, steps = f"column {column.name!r}", np.diff(values)
        ignore, many = f"Use `--ignore {column.name}`", len(column.names)
        if many > MOST_CATEGORIES:
            yield (
                f"{name} has {many:,} categories. The {MOST_CATEGORIES} most frequent "
                "ones of the training rows get an input; the others count as unknown."
            )
        if len(values) < _FEWEST_ROWS:
            continue
        if why := _leak(values, y, column.kind == "category"):
            yield f"{name} {why}. {ignore} unless it is known before the target."
        if column.kind == "number" and (steps == 1).all():
            yield f"{name} counts the rows. {ignore} if it is without meaning."
        if column.kind == "date" and dataset.times is None and (steps >= 0).all():
            use = f"Use `--time {column.name}` if later rows are to be predicted."
            yield f"{name} holds dates that increase. {use}"


def _leak(values: np.ndarray, y: np.ndarray, is_category: bool) -> str:
    """Return how a column predicts the target alone; empty if it does not."""
    filled = ~np.isnan(values)
    values, y = values[filled].astype(np.float64), y[filled]
    if len(values) < _FEWEST_ROWS or np.ptp(values) == 0 or np.ptp(y) == 0:
        return ""
    if y.dtype == np.float32:
        found = float(np.corrcoef(values, y.astype(np.float64))[0, 1])
        high = abs(found) > _LEAK
        return f"has a correlation of {found:.5f} with the target" if high else ""
    order = np.lexsort((y, values))
    new_value, new_class = np.diff(values[order]) != 0, np.diff(y[order]) != 0
    if (new_class & ~new_value).any():
        return ""  # equal values in different classes
    runs = (new_value if is_category else new_class).sum() + 1
    alone = runs <= (len(values) / 5 if is_category else len(set(y.tolist())))
    return "alone tells the class of every row" if alone else ""
