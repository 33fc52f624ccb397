"""`infer`, which decides what a column of a table holds."""

from typing import Any

import numpy as np

from keras_vaf.datasets.dataset import Task
from keras_vaf.datasets.tables.column import (
    BOOLEANS,
    Cells,
    Column,
    among,
    na_advice,
)
from keras_vaf.datasets.tables.formats import (
    ISO,
    DateOrder,
    Numbers,
    Odd,
    date_format,
    matches,
    number_format,
    plain_numbers,
)

_MOST_CLASSES = 20  # that whole numbers may have
_FEWEST_IDENTIFIERS = 20  # different texts of a column of identifiers
_STRANGE = r"(?i)^[+-]?(\d[\d_]*\.?[\d_]*|\.\d+)(e[+-]?\d+)?$|^[+-]?(inf|infinity|nan)$"
_NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")


class LeftOut(Exception):
    """The reason why a column is not an input."""


def infer(
    name: str,
    cells: Cells,
    role: str,
    task: Task | None,
    marks: tuple[str | None, str | None],
    dates: DateOrder | None,
) -> Column:
    """Decide what a column holds, by its use `role`.

    `marks` are the decimal mark of the user, and that of other numbers of the table.
    """
    target, plain = role == "the target", cells.plain
    if role in ("a category", "the groups") or (target and task == "classification"):
        return _category(name, cells)
    if cells.is_date:
        return Column(
            name, "number" if target else "date", format="" if target else ISO
        )
    if plain is not None and (
        target or cells.typed is not None or not _are_codes(cells.texts.drop_null())
    ):
        if target and task is None and _are_labels(plain):
            return _category(name, cells)
        return Column(name)
    _, texts, counts = cells.coded
    word = among(texts, _NO_ENTRY).to_numpy(zero_copy_only=False)
    words = tuple(sorted(texts.filter(word).to_pylist()))
    texts, counts = texts.filter(~word), counts[~word]
    if target and 2 * counts[matches(Numbers(texts).body, "")].sum() <= counts.sum():
        (_, texts, counts), words = cells.coded, ()
    if len(texts) and (target or not _are_codes(texts)):
        few = {text.lower() for text in texts[:_MOST_CLASSES].to_pylist()}
        if not target and any(few <= {*pair} for pair in BOOLEANS):
            return Column(name, "boolean", na=words)
        if form := number_format(texts, counts, *marks):
            return Column(name, format=form, na=words)
        numbers = plain_numbers(texts, cells.decimal)
        odd = np.isnan(numbers)
        strange = matches(texts, _STRANGE).all()
        labels = not strange if odd.any() else _are_labels(numbers)
        if target and task is None and labels:
            return _category(name, cells, words)
        if target or strange or 2 * counts[odd].sum() <= counts.sum():
            return Column(name, na=words)
        if form := date_format(texts, counts, dates):
            return Column(name, "date", format=form, na=words)
    _, texts, counts = cells.coded
    many = len(texts) >= _FEWEST_IDENTIFIERS and len(texts) > counts.sum() // 2
    if many and role != "the time":
        share = "each row" if len(texts) == counts.sum() else "most rows"
        raise LeftOut(f"its text differs in {share}, as an identifier")
    return Column(name, "category", tuple(sorted(texts.to_pylist())))


def _category(name: str, cells: Cells, words: tuple[str, ...] = ()) -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers."""
    texts = cells.coded[1]
    names, numbers = texts.to_pylist(), plain_numbers(texts)
    if np.isnan(numbers).any():
        return Column(name, "category", tuple(sorted({*names} - {*words})), na=words)
    order = np.lexsort((names, numbers))
    for place in np.flatnonzero(np.diff(numbers[order]) == 0)[:1]:
        must = f"must write each number in one way, such as {names[order[place]]}"
        raise Odd(must, names[order[place + 1]])
    return Column(name, "category", tuple(names[place] for place in order))


def check_input(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Leave out a column with a single value, or one that numbers the rows."""
    if np.isnan(values).all():
        raise LeftOut("it has no entry")
    if len(values) > 1 and not np.fmin.reduce(values) < np.fmax.reduce(values):
        raise LeftOut("it has one value")
    unnamed = not column.name or column.name.startswith("Unnamed: ")
    whole = unnamed and column.kind == "number" and _whole(values)
    if whole and len(np.unique(values)) == len(values):
        raise LeftOut("it has no name and numbers the rows")


def _check_time(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Refuse values that do not order all rows."""
    if column.kind not in ("number", "date"):
        must = f"is the time and must hold numbers or dates ({ISO} is best)"
        raise Odd(must, next(iter(cells.coded[1].to_pylist()), None))
    if np.isnan(values).any():
        raise Odd("is the time; fill in its missing entries, or remove their rows")


def _check_target(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Refuse a target that cannot be predicted."""
    filled, names, texts = values[~np.isnan(values)], column.names, cells.coded[1]
    if not len(filled):
        raise Odd("is the target and has no entry")
    first = cells.texts[int((~np.isnan(values)).argmax())].as_py()
    if column.kind == "number" and len(filled) > 1 and np.ptp(filled) == 0:
        raise Odd("is the target and must hold more than one value to predict", first)
    if column.kind == "category" and len(names) < 2:
        raise Odd("is the target and must hold at least two classes", first)
    if len(names) > max(_MOST_CLASSES, len(filled) // 2):
        others = texts.filter(np.isnan(plain_numbers(texts)))
        odd = among(cells.texts, others.to_pylist()).to_numpy(zero_copy_only=False)
        must = (
            "is the target and must hold numbers, or classes of several rows each; "
            f"it has {len(names)} different texts in {len(filled)} rows"
        )
        text = others[0].as_py() if len(others) else first
        raise Odd(must, text, na_advice(cells.words(odd)))


def _are_codes(texts: Any) -> bool:
    """Return whether texts are whole numbers, some of them with a leading zero."""
    return bool(matches(texts, r"^0\d").any() and matches(texts, r"^\d+$").all())


def _whole(numbers: np.ndarray) -> bool:
    return not (np.floor(numbers) < numbers).any()


def _are_labels(numbers: np.ndarray) -> bool:
    """Return whether numbers are classes: few whole numbers."""
    for values in (numbers[:_MOST_CLASSES], numbers):  # the first ones often settle it
        values = np.unique(values[~np.isnan(values)])
        if len(values) > _MOST_CLASSES or not _whole(values):
            return False
    return not np.isinf(values).any()


CHECKS = {
    "the target": _check_target,
    "the time": _check_time,
    "the groups": lambda *_: None,
}
"""The check of a column that was read, by its use."""
