"""`Column`, which reads the cells of a column as numbers, and `infer`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from keras_vaf.datasets.tables.formats import (
    DateOrder,
    Odd,
    clean,
    date_format,
    days,
    floats,
    number_format,
    numbers_like,
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
_EXACT = 2**53  # Larger whole numbers lose digits as float64.


def as_cells(
    values: "Series", na: Sequence[str], decimal: str = ".", plain: bool = True
) -> "Series":
    """Return a column as float64 numbers, or as texts without blanks.

    `na` are additional words for a missing entry. With `plain`, texts become numbers if
    all of them are plain numbers without leading zeros.
    """
    pandas = require("pandas", extra="experiments")
    types = pandas.api.types
    if types.is_numeric_dtype(values) and not types.is_bool_dtype(values):
        numbers = values.to_numpy("float64", na_value=np.nan)
        if not (np.abs(numbers) > _EXACT).any():
            words = pandas.to_numeric(pandas.Series(na, dtype="str"), errors="coerce")
            numbers = pandas.Series(numbers, values.index, name=values.name)
            return numbers.mask(numbers.isin(words.dropna()))
    texts = values.astype("str").str.strip()
    texts = texts.mask(texts.isin([*_MISSING, *na]))
    marks = texts
    if decimal == ",":
        marks = texts.str.replace(".", "?", regex=False).str.replace(",", ".")
    try:
        numbers = floats(marks) if plain else np.array([np.inf])
    except ValueError:
        return texts
    inexact = np.fmax.reduce(np.abs(numbers), initial=0) > _EXACT
    whole = not inexact and not np.fmax.reduce(numbers % 1, initial=0)
    if inexact or (whole and texts.str.match("0[0-9]+$", na=False).any()):
        return texts
    return pandas.Series(numbers, texts.index, name=texts.name)


def as_texts(cells: "Series") -> "Series":
    """Return cells as texts. Whole numbers have no decimal mark."""
    if cells.dtype.kind != "f":
        return cells
    return cells.astype("str").str.removesuffix(".0").mask(cells.isna())


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
    >>> Column("size", "category", ("L", "S")).read(sizes)
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
        for field in ("names", "na"):  # lists in a file
            object.__setattr__(self, field, tuple(getattr(self, field)))

    def read(self, cells: "Series", decimal: str = ".") -> np.ndarray:
        """Return cells as float32 numbers, or raise a `ValueError` if some are odd."""
        number = self.kind == "number"
        if number and cells.dtype.kind == "f" and self.format[-1:] != "%":
            values = cells.to_numpy()
        else:
            pandas = require("pandas", extra="experiments")
            places, texts = pandas.factorize(as_texts(cells))  # place -1: missing
            values = self._read(pandas.Series(texts), decimal)
            values = np.append(values, np.nan)[places]
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        odd = cells.notna().to_numpy() & ~np.isfinite(values)
        if odd.any():
            odd &= ~as_texts(cells).isin(_NO_ENTRY).to_numpy()
        if self.kind == "category":
            values[odd] = UNKNOWN
        elif odd.any():
            raise self._odd(as_texts(cells)[odd])
        return values

    def _read(self, texts: "Series", decimal: str) -> np.ndarray:
        if self.kind == "date":
            return days(texts, self.format)
        if self.kind == "number":
            # New rows may have larger numbers, with marks between thousands.
            form = self.format.replace("1234,", "1.234,").replace("1234.", "1,234.")
            return numbers_like(form or f"1234{decimal}5", clean(texts))
        known = {name: place for place, name in enumerate(self.names)}
        if self.kind == "boolean":
            known = {word: n for pair in _BOOLEANS for n, word in enumerate(pair)}
            texts = texts.str.lower()
        return texts.map(known).to_numpy(np.float64)

    def _odd(self, texts: "Series") -> Odd:
        must = {
            "number": f"finite numbers, such as {self.format or '-1.5 or 2e3'}",
            "boolean": "truth values, such as true and false",
            "date": f"dates of the format {self.format}",
        }[self.kind]
        some = f"{len(texts)} of its cells do{'es' * (len(texts) == 1)} not"
        words = ",".join(texts.unique()[:6])
        if not re.search(r"\d|inf|,.*,.*,.*,.*,", words, re.IGNORECASE):
            some += f" (use `--na {words}` if they are missing)"
        return Odd(f"must hold {must}; {some}", texts.iloc[0])


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
    labels = target and task is None
    if cells.dtype.kind == "f":
        return _category(cells) if labels and _are_labels(cells) else Column(name)
    counts = cells[~cells.isin(_NO_ENTRY)].value_counts(sort=False)
    texts = counts.index.to_series()
    codes = texts.str.fullmatch("[0-9]+").all() and texts.str.match("0[0-9]").any()
    if texts.empty or (codes and not target):
        return _category(cells)
    words = texts.str.lower()
    if not target and any(words.isin(pair).all() for pair in _BOOLEANS):
        return Column(name, "boolean")
    if form := number_format(counts, decimal, comma):
        return Column(name, format=form)
    numbers = numbers_like(f"1234{',' if comma else '.'}5", clean(texts))
    odd = np.isnan(numbers)
    if labels and (odd.any() or _are_labels(numbers)):
        return _category(cells)
    if target or 2 * counts[odd].sum() <= counts.sum():
        return Column(name)
    if form := date_format(counts, dates):
        return Column(name, "date", format=form)
    return _category(cells)


def _category(cells: "Series") -> Column:
    """Return the encoding of categories, sorted as numbers if all are numbers."""
    texts = as_texts(cells.drop_duplicates()).dropna().sort_values()
    words = texts[~texts.isin(_NO_ENTRY)]
    numbers = numbers_like("1234.5", words)
    if len(words) and not np.isnan(numbers).any():
        texts = words.iloc[np.argsort(numbers, kind="stable")]
    return Column(str(cells.name), "category", tuple(texts))


def _are_labels(numbers: Any) -> bool:
    """Return whether numbers are classes: few whole numbers."""
    values = np.unique(numbers[~np.isnan(numbers)])
    few = len(values) <= MOST_CLASSES and np.isfinite(values).all()
    return bool(few and not (values % 1).any())
