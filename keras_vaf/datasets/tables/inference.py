"""`Reader`, which decides what the columns of a table hold, and reads them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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
from keras_vaf.datasets.tables.sources import Table

_MOST_CLASSES = 20  # that whole numbers may have
_FEWEST_IDENTIFIERS = 20  # different texts of a column of identifiers
_NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")


class LeftOut(Exception):
    """The reason why a column is not an input."""


class Reader:
    """Read the columns of a table, and collect what is odd about them.

    Args:
        table: The table.
        na, decimal, dates: As in `read_table`.
    """

    def __init__(
        self,
        table: Table,
        na: Sequence[str],
        decimal: str | None,
        dates: DateOrder | None,
    ) -> None:
        self._table, self._na, self._decimal, self._dates = table, na, decimal, dates
        self._likely = "," if table.separator and table.decimal == "," else None
        self.odd: list[str] = []  # sentences
        self.left_out: dict[str, str] = {}  # the reason for each column
        self.rows: np.ndarray | None = None  # those with a target

    def read(
        self,
        name: str,
        decide: Callable[[str, Cells], Column],
        check: Callable[[Column, Cells, np.ndarray], None] | None = None,
    ) -> tuple[Column, np.ndarray] | None:
        """Read a column as functions decide and check; `None` if it is not used."""
        cells = Cells(
            self._table.columns[name], self._na, self._table.decimal, self.rows
        )
        try:
            column = decide(name, cells)
            values, odd = column.read(cells)
            if odd.any():
                raise column.problem(cells, odd)
            if check is not None:
                check(column, cells, values)
            return column, values
        except LeftOut as reason:
            self.left_out[name] = str(reason)
        except Odd as problem:
            self.odd.append(cells.sentence(name, problem, self._table.first))
        return None

    def target(self, name: str, cells: Cells, task: str | None) -> Column:
        """Decide whether a target is a number or a class."""
        if task == "classification":
            return category(name, cells)
        if cells.plain is not None or cells.is_date:
            few = task is None and not cells.is_date and _are_labels(cells.plain)
            return category(name, cells) if few else Column(name)
        texts, counts, words = _without_words(cells)
        if 2 * counts[Numbers(texts).have("")].sum() <= counts.sum():
            (_, texts, counts), words = cells.coded, ()
        form = number_format(texts, counts, self._decimal, self._likely)
        if form is None and task is None:
            plain = plain_numbers(texts, cells.decimal)
            odd = np.isnan(plain).any()
            if not _are_floats(texts) if odd else _are_labels(plain):
                return category(name, cells, words)
        return Column(name, format=form or "", na=words)

    def input(self, name: str, cells: Cells) -> Column:
        """Decide what an input holds, or the column of times."""
        if cells.is_date:
            return Column(name, "date", format=ISO)
        if cells.plain is not None and not _have_codes(cells):
            if np.isnan(cells.plain).all():
                raise LeftOut("it has no entry")
            return Column(name)
        texts, counts, words = _without_words(cells)
        if len(texts) and not _are_codes(texts):
            few = {text.lower() for text in texts[:_MOST_CLASSES].to_pylist()}
            if len(texts) < _MOST_CLASSES and any(few <= {*pair} for pair in BOOLEANS):
                return Column(name, "boolean", na=words)
            form = number_format(texts, counts, self._decimal, self._likely)
            if form is None:
                odd = np.isnan(plain_numbers(texts, cells.decimal))
                numbers = 2 * counts[odd].sum() <= counts.sum() or _are_floats(texts)
                form = "" if numbers else None
            if form is not None:
                return Column(name, format=form, na=words)
            if form := date_format(texts, counts, self._dates):
                return Column(name, "date", format=form, na=words)
        _, texts, counts = cells.coded
        if len(texts) >= _FEWEST_IDENTIFIERS and len(texts) > counts.sum() // 2:
            share = "each row" if len(texts) == counts.sum() else "most rows"
            raise LeftOut(f"its text differs in {share}, as an identifier")
        return Column(name, "category", tuple(sorted(texts.to_pylist())))


def category(name: str, cells: Cells, words: tuple[str, ...] = ()) -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers."""
    texts = cells.coded[1]
    names, numbers = texts.to_pylist(), plain_numbers(texts)
    if np.isnan(numbers).any():
        return Column(name, "category", tuple(sorted({*names} - {*words})), na=words)
    order = np.lexsort((names, numbers))
    for place in np.flatnonzero(np.diff(numbers[order]) == 0)[:1]:
        must = f"must write each number in one way, such as {names[order[place]]}"
        raise Odd(must, np.arange(len(names)) == order[place + 1])
    return Column(name, "category", tuple(names[place] for place in order))


def check_input(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Leave out a column with a single value, or one that numbers the rows."""
    if len(values) > 1 and not np.fmin.reduce(values) < np.fmax.reduce(values):
        raise LeftOut("it has one value")
    unnamed = not column.name or column.name.startswith("Unnamed: ")
    whole = unnamed and column.kind == "number" and _whole(values)
    if whole and len(np.unique(values)) == len(values):
        raise LeftOut("it has no name and numbers the rows")


def check_time(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Refuse values that do not order all rows."""
    if column.kind not in ("number", "date"):
        raise Odd(f"is the time and must hold numbers or dates ({ISO} is best)", 0)
    if (missing := np.isnan(values)).any():
        must = "is the time; fill in its missing entries, or remove their rows"
        raise Odd(must, int(missing.argmax()))


def check_target(column: Column, cells: Cells, values: np.ndarray) -> None:
    """Refuse a target that cannot be predicted."""
    filled, names = values[~np.isnan(values)], column.names
    first = int((~np.isnan(values)).argmax())
    if not len(filled):
        raise Odd("is the target and has no entry")
    if column.kind == "number" and len(filled) > 1 and np.ptp(filled) == 0:
        raise Odd("is the target and must hold more than one value to predict", first)
    if column.kind == "category" and len(names) < 2:
        raise Odd("is the target and must hold at least two classes", first)
    if len(names) > max(_MOST_CLASSES, len(filled) // 2):
        odd = np.append(np.isnan(plain_numbers(cells.coded[1])), False)[cells.coded[0]]
        must = (
            "is the target and must hold numbers, or classes of several rows each; "
            f"it has {len(names)} different texts in {len(filled)} rows"
        )
        place = int(odd.argmax()) if odd.any() else first
        raise Odd(must, place, na_advice(cells.words(odd)))


def _without_words(cells: Cells) -> tuple[Any, np.ndarray, tuple[str, ...]]:
    """Return the texts that are not words for a missing entry, counts, and words."""
    _, texts, counts = cells.coded
    word = among(texts, _NO_ENTRY)
    words = tuple(sorted(texts.filter(word).to_pylist()))
    mask = ~word.to_numpy(zero_copy_only=False)
    return texts.filter(mask), counts[mask], words


def _are_codes(texts: Any) -> bool:
    """Return whether texts are whole numbers, some of them with a leading zero."""
    return bool(matches(texts, r"^0\d").any() and matches(texts, r"^\d+$").all())


def _have_codes(cells: Cells) -> bool:
    if cells.typed is not None or not _whole(cells.plain[:_MOST_CLASSES]):
        return False
    perhaps = matches(cells.array, r"^\s*0\d").any()
    return bool(perhaps) and _are_codes(cells.coded[1])


def _are_floats(texts: Any) -> bool:
    """Return whether Python reads all texts as numbers, such as inf and 1_000."""
    try:
        return bool([float(text.as_py()) for text in texts])
    except ValueError:
        return False


def _whole(numbers: np.ndarray) -> bool:
    return not (np.floor(numbers) < numbers).any()


def _are_labels(numbers: np.ndarray) -> bool:
    """Return whether numbers are classes: few whole numbers."""
    for values in (
        numbers[:_MOST_CLASSES],
        numbers,
    ):  # usually the first ones settle it
        values = np.unique(values[~np.isnan(values)])
        if len(values) > _MOST_CLASSES or not _whole(values):
            return False
    return not np.isinf(values).any()
