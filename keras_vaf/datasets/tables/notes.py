"""`describe_table`, which states the decisions about a table as sentences."""

from collections.abc import Sequence

import numpy as np

from keras_vaf.datasets.dataset import Dataset, Task
from keras_vaf.datasets.preprocessing import MOST_CATEGORIES
from keras_vaf.datasets.tables.column import Column
from keras_vaf.datasets.tables.inference import LeftOut
from keras_vaf.datasets.tables.number_formats import are_codes, reads_as_number
from keras_vaf.datasets.tables.problems import listed
from keras_vaf.datasets.tables.sources import Table
from keras_vaf.utils import readable, visible

_MOST_NAMES = 12  # names in one sentence
_LEAK = 0.9999  # a correlation with the target above this is suspicious
_FEWEST_ROWS = 20  # fewer rows can match the target by chance
_FEWEST_OF_A_CLASS = 3  # one row each for training, validation and test
_SAMPLE = 10_000  # rows used to find such columns


def informative(
    columns: Sequence[Column], x: np.ndarray
) -> tuple[list[Column], np.ndarray, list[LeftOut]]:
    """Leave out columns with a single value, and those that number the rows.

    A table of one row keeps all columns with values. A column that numbers the rows, as
    the index in pandas' `to_csv`, has no name and different whole numbers.
    """
    reasons = {
        place: "it has no name and numbers the rows"
        for place, column in enumerate(columns)
        if (not column.name or column.name.startswith("Unnamed: "))
        and column.kind == "number"
        and _numbers_rows(x[:, place])
    }
    for rows in (x[:_SAMPLE], x):  # usually the first rows already differ
        same = np.flatnonzero(~(np.fmin.reduce(rows) < np.fmax.reduce(rows)))
        if not len(same):
            break
    if len(x) > 1:
        for place in same.tolist():
            reasons.setdefault(place, "it has one value")
    if not reasons:
        return list(columns), x, []
    left_out = [LeftOut(columns[place].name, why) for place, why in reasons.items()]
    kept = [place for place in range(len(columns)) if place not in reasons]
    return [columns[place] for place in kept], x[:, kept], left_out


def describe_table(
    dataset: Dataset,
    table: Table,
    left_out: Sequence[LeftOut],
    task: Task | None,
    dropped: int,
) -> tuple[str, ...]:
    """Return the decisions about a table, one sentence per decision."""
    inputs = len(dataset.columns)
    first = f"{table.name}: {len(dataset.x):,} rows, {inputs} "
    first += "input" if inputs == 1 else "inputs"
    notes = [f"{first} ({table.file.description})." if table.file else f"{first}."]
    if dropped:
        rows = "1 row" if dropped == 1 else f"{dropped:,} rows"
        notes.append(f"Left out {rows} without a target.")
    notes.append(_target(dataset, task))
    notes += _kinds(dataset)
    notes += [
        f"Column {column.name!r} has numbers with leading zeros, such as "
        f"{column.names[0]}. They are categories."
        for column in dataset.columns
        if are_codes(column.names)
    ]
    notes += _missing(dataset)
    for each in left_out:
        notes.append(f"Left out column {each.name!r}: {each.reason}.")
    return tuple(map(visible, (*notes, *_warnings(dataset))))


def _target(dataset: Dataset, task: Task | None) -> str:
    name, y = dataset.target, dataset.y
    if dataset.class_names is None:
        y = y.astype(np.float64)
        return (
            f"Target {name!r}: a regression, values from {readable(y.min())} to "
            f"{readable(y.max())}, mean {readable(y.mean())}, standard deviation "
            f"{readable(y.std())}."
        )
    names = listed(dataset.class_names, _MOST_NAMES)
    words = f"taken as {len(dataset.class_names)} classes ({names})"
    if task is None and all(map(reads_as_number, dataset.class_names)):
        words += "; use `--task regression` if they are numbers to predict"
    return f"Target {name!r}: {words}."


def _kinds(dataset: Dataset) -> list[str]:
    titles = {
        "number": "Numbers",
        "category": "Categories (with their number of values)",
        "boolean": "True or false, as 1 and 0",
        "date": "Dates, as days since 1970-01-01",
    }
    kinds: dict[str, list[str]] = {}
    for column in dataset.columns:
        detail = len(column.names) if column.kind == "category" else column.format
        text = f"{column.name} ({detail})" if detail else column.name
        kinds.setdefault(column.kind, []).append(text)
    return [
        f"{titles[kind]}: {listed(kinds[kind], _MOST_NAMES)}."
        for kind in titles
        if kind in kinds
    ]


def _missing(dataset: Dataset) -> list[str]:
    """Return the notes on missing entries, and on the words that stand for them."""
    counts = np.isnan(dataset.x).sum(axis=0).tolist()
    pairs = list(zip(dataset.columns, counts, strict=True))
    named = [f"{column.name} ({count:,})" for column, count in pairs if count]
    if not named:
        return []
    words = sorted({word for column, _ in pairs for word in column.na})
    read = f" {listed(words, _MOST_NAMES)} count as missing." if words else ""
    return [
        f"Missing entries: {listed(named, _MOST_NAMES)}.{read} Numbers are filled in "
        "by the mean of the training rows, categories by the most frequent one."
    ]


def _warnings(dataset: Dataset) -> list[str]:
    found = _rare_classes(dataset)
    found += [
        f"column {each.name!r} has {len(each.names):,} categories. The "
        f"{MOST_CATEGORIES} most frequent ones of the training rows get an input each; "
        "the others count as unknown."
        for each in dataset.columns
        if len(each.names) > MOST_CATEGORIES
    ]
    found += [
        f"column {name!r} {why}. Use `--ignore {name}` unless it is known before the "
        "target."
        for name, why in _leaks(dataset).items()
    ]
    found += [
        f"column {name!r} counts the rows. Use `--ignore {name}` if it is a number "
        "without meaning."
        for name in _counters(dataset)
    ]
    return [f"Warning: {text}" for text in found]


def _rare_classes(dataset: Dataset) -> list[str]:
    if dataset.class_names is None:
        return []
    counts = np.bincount(dataset.y, minlength=len(dataset.class_names)).tolist()
    rare = [
        f"{name!r} ({count})"
        for name, count in zip(dataset.class_names, counts, strict=True)
        if count < _FEWEST_OF_A_CLASS
    ]
    if not rare:
        return []
    return [
        f"{listed(rare, _MOST_NAMES)}: classes of 1 or 2 rows cannot be trained, "
        "selected and tested on different rows. Add rows, or remove these classes from "
        "the table."
    ]


def _numbers_rows(values: np.ndarray) -> bool:
    """Return whether values are different whole numbers."""
    whole = bool((values == np.floor(values)).all())
    return whole and len(np.unique(values)) == len(values)


def _counters(dataset: Dataset) -> list[str]:
    """Return the names of columns that increase by 1 from row to row."""
    x = dataset.x
    if len(x) < _FEWEST_ROWS:
        return []
    candidates = np.flatnonzero((x[1] - x[0] == 1) & (x[-1] - x[0] == len(x) - 1))
    places = (n for n in candidates.tolist() if np.all(np.diff(x[:, n]) == 1))
    return [dataset.columns[place].name for place in places]


def _leaks(dataset: Dataset) -> dict[str, str]:
    """Return the names of columns that predict the target alone, with a reason."""
    found: dict[str, str] = {}
    if len(dataset.x) < _FEWEST_ROWS:
        return found
    step = -(-len(dataset.x) // _SAMPLE)
    x, y = dataset.x[::step], dataset.y[::step]
    for place, column in enumerate(dataset.columns):
        filled = ~np.isnan(x[:, place])
        values, targets = x[filled, place], y[filled]
        if len(values) < _FEWEST_ROWS or np.ptp(values) == 0 or np.ptp(targets) == 0:
            continue
        if dataset.class_names is None:
            both = values.astype(np.float64), targets.astype(np.float64)
            correlation = float(np.corrcoef(*both)[0, 1])
            if abs(correlation) > _LEAK:
                words = f"has a correlation of {correlation:.5f} with the target"
                found[column.name] = words
        elif _separates(values, targets, column.kind == "category"):
            found[column.name] = "alone tells the class of every row"
    return found


def _separates(values: np.ndarray, classes: np.ndarray, is_category: bool) -> bool:
    """Return whether each value of a column, or each interval, belongs to one class."""
    order = np.lexsort((classes, values))
    values, classes = values[order], classes[order]
    new_value, new_class = np.diff(values) != 0, np.diff(classes) != 0
    if (new_class & ~new_value).any():
        return False  # equal values in different classes
    runs = new_value.sum() if is_category else new_class.sum()
    return bool(runs + 1 <= (len(values) / 5 if is_category else len(set(classes))))
