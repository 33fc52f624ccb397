"""`Column`, which reads the cells of a column as numbers, and `infer`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.formats import (
    ISO,
    DateOrder,
    Odd,
    clean,
    date_format,
    days,
    marked_numbers,
    number_format,
    plain_numbers,
)
from keras_vaf.utils import check_choice, require

if TYPE_CHECKING:
    from pandas import Series

Kind = Literal["number", "category", "boolean", "date"]

UNKNOWN = -1
"""Number of a category that was not in the training rows."""

MOST_CLASSES = 20
"""Largest number of different whole numbers that are classes."""

_BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
_MISSING = ("", "?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT", "<NA>")
# Words that are missing entries unless they are categories.
_NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")
_FEWEST_IDENTIFIERS = 20  # different texts of a column of identifiers
_EXACT = 2**53  # Larger whole numbers lose digits as float64.


class LeftOut(Exception):
    """The reason why a column is not an input."""


def as_cells(
    values: "Series", na: Sequence[str], decimal: str = ".", plain: bool = True
) -> "Series":
    """Return a column as float64 numbers, as moments, or as texts without blanks.

    `na` are additional words for a missing entry. With `plain`, texts become numbers if
    all of them are plain numbers without leading zeros.
    """
    pandas = require("pandas", extra="experiments")
    types = pandas.api.types
    if types.is_datetime64_any_dtype(values):
        return values
    if types.is_numeric_dtype(values) and not types.is_bool_dtype(values):
        numbers = values.to_numpy("float64", na_value=np.nan)
        if not (np.abs(numbers) > _EXACT).any():
            words = pandas.to_numeric(pandas.Series(na, dtype="str"), errors="coerce")
            numbers = pandas.Series(numbers, values.index, name=values.name)
            return numbers.mask(numbers.isin(words.dropna()))
    texts = values.astype("str").str.strip()
    texts = texts.mask(texts.isin([*_MISSING, *na]))
    zeros = texts.str.match("0[0-9]+$", na=False).any()
    points = decimal != "." and texts.str.contains(".", regex=False, na=False).any()
    if zeros or points or not plain:
        return texts
    signs = texts.str.replace("\u2212", "-").str.replace(decimal, ".", regex=False)
    try:
        array = require("pyarrow", extra="experiments").array(signs, from_pandas=True)
        found = array.cast("float64").to_numpy(zero_copy_only=False)
    except ValueError:
        return texts
    exact = (signs.isna() | (np.abs(found) <= _EXACT)).all()
    return pandas.Series(found, texts.index, name=texts.name) if exact else texts


def as_texts(cells: "Series") -> "Series":
    """Return cells as texts. Whole numbers have no decimal mark."""
    if cells.dtype.kind not in "fM":
        return cells
    return cells.map(_text).astype("str").mask(cells.isna())


def _text(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


@dataclass(frozen=True)
class Column:
    """Encoding of the cells of one column of a table as numbers.

    Args:
        name: Name of the column.
        kind: `"number"`; `"category"`, encoded as the index of a cell in `names`;
            `"boolean"`, encoded as 0 for false, no or off and as 1 for true, yes or on;
            or `"date"`, encoded as the number of days since 1970-01-01.
        names: The categories. Any other cell becomes -1.
        format: Format of dates: `"ISO 8601"`, or one of `datetime.datetime.strptime`.
            For numbers with a currency sign, %, a decimal comma or marks between
            thousands, an example such as `"1.234,5 €"`.
        na: Words that stand for a missing entry, which becomes NaN, besides those that
            `read_table` knows.

    Raises:
        ValueError: If `kind` is not one of these.

    Example:

    >>> import pandas
    >>> sizes = pandas.Series(["S", "-", "L", "XL"])
    >>> Column("size", "category", ("L", "S")).read(sizes)[0]
    array([ 1., nan,  0., -1.], dtype=float32)
    """

    name: str
    kind: Kind = "number"
    names: tuple[str, ...] = ()
    format: str = ""
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the kind."""
        check_choice("kind", self.kind, get_args(Kind))

    def read(
        self, cells: "Series", decimal: str = "."
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return cells as float32 numbers, and the mask of those that are odd."""
        kind = cells.dtype.kind
        if self.kind == "number" and kind == "f" and self.format[-1:] != "%":
            values = cells.to_numpy()
        elif self.kind == "date" and kind == "M":
            values = days(cells)
        else:
            values = self._read(as_texts(cells), decimal)
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        odd = cells.notna().to_numpy() & ~np.isfinite(values)
        if odd.any():
            odd &= ~as_texts(cells).isin(_NO_ENTRY).to_numpy()
        if self.kind == "category":
            values[odd], odd = UNKNOWN, np.zeros_like(odd)
        return values, odd

    def _read(self, texts: "Series", decimal: str) -> np.ndarray:
        if self.kind == "date":
            return days(texts, self.format)
        if self.kind == "number" and self.format:
            return marked_numbers(clean(texts), self.format, wide=True)
        if self.kind == "number":
            return plain_numbers(texts, decimal)
        known = {name: place for place, name in enumerate(self.names)}
        if self.kind == "boolean":
            known = {word: n for pair in _BOOLEANS for n, word in enumerate(pair)}
            texts = texts.str.lower()
        codes: np.ndarray = texts.map(known).to_numpy(np.float64)
        return codes

    def problem(self, cells: "Series", odd: np.ndarray) -> Odd:
        """Return what is wrong with odd cells."""
        words = as_texts(cells)[odd].unique()
        must = {
            "number": f"finite numbers, such as {self.format or '-1.5 or 2e3'}",
            "boolean": "truth values, such as true and false",
            "date": f"dates of the format {self.format}",
        }[self.kind]
        some = (
            "1 of its cells does" if odd.sum() == 1 else f"{odd.sum()} of its cells do"
        )
        return Odd(f"must hold {must}; {some} not{na_advice(words)}", words[0])


def na_advice(words: Sequence[str]) -> str:
    """Return the advice to take words as missing entries, if they may mean them."""
    unlike = len(words) > 5 or re.search(r"\d|inf", "".join(words), re.IGNORECASE)
    return "" if unlike else f" (use `--na {','.join(words)}` if they are missing)"


def infer(
    cells: "Series",
    role: str,
    task: str | None,
    decimal: str | None,
    comma: bool,
    dates: DateOrder | None,
) -> Column:
    """Decide what a column holds, by its use `role` and the arguments of the user.

    `comma` says whether plain numbers of the table have decimal commas.
    """
    name, target = str(cells.name), role == "the target"
    if role in ("a category", "the groups") or (target and task == "classification"):
        return _category(cells)
    if cells.dtype.kind == "M":
        return Column(name) if target else Column(name, "date", format=ISO)
    labels = target and task is None
    if cells.dtype.kind == "f":
        return _category(cells) if labels and _are_labels(cells) else Column(name)
    counts = cells[~cells.isin(_NO_ENTRY)].value_counts(sort=False)
    texts = counts.index.to_series()
    codes = texts.str.fullmatch("[0-9]+").all() and texts.str.match("0[0-9]").any()
    if len(texts) and (target or not codes):
        words = texts.str.lower()
        if not target and any(words.isin(pair).all() for pair in _BOOLEANS):
            return Column(name, "boolean")
        if form := number_format(counts, decimal, comma):
            return Column(name, format=form)
        numbers = plain_numbers(texts, "," if comma else ".")
        odd = np.isnan(numbers)
        if labels and (odd.any() or _are_labels(numbers)):
            return _category(cells)
        if target or 2 * counts[odd].sum() <= counts.sum():
            return Column(name)
        if form := date_format(counts, dates):
            return Column(name, "date", format=form)
    column, filled = _category(cells), cells.count()
    many = len(column.names) >= _FEWEST_IDENTIFIERS
    if many and len(column.names) > filled // 2 and role != "the time":
        raise LeftOut("its text differs in most rows, as an identifier")
    return column


def _category(cells: "Series") -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers."""
    texts = as_texts(cells).dropna().drop_duplicates().sort_values()
    words = texts[~texts.isin(_NO_ENTRY)]
    numbers = plain_numbers(words)
    if len(words) and not np.isnan(numbers).any():
        texts = words.iloc[np.argsort(numbers, kind="stable")]
    return Column(str(cells.name), "category", tuple(texts))


def _are_labels(numbers: Any) -> bool:
    """Return whether numbers are classes: few whole numbers."""
    values = np.unique(numbers[~np.isnan(numbers)])
    few = len(values) <= MOST_CLASSES and np.isfinite(values).all()
    return bool(few and not (values % 1).any())
