"""`Column`, which reads the cells of a column as numbers, and `infer`.

Cells are texts without blanks around them, by the number of the row.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from keras_vaf.utils import check_choice, require

if TYPE_CHECKING:
    from pandas import Series

Kind = Literal["number", "category", "boolean", "date"]

_MOST_CLASSES = 20  # different whole numbers that are classes
UNKNOWN = -1  # number of a category that was not in the training rows
_ISO = "ISO 8601"  # dates such as 2024-12-31 and 2024-12-31 23:59:59
_BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
# Words that are missing entries unless they are categories.
_NO_ENTRY = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")

_NUMBER = "[+-]? ?([0-9][0-9.,' ]*)?[0-9] ?([%$€£¥]|CHF)?"
_PLAIN = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
# Signs that stand for others. Parentheses mean a minus. The currency moves to the end.
_SAME = {
    "[\u00a0\u2009\u202f]": " ",
    "\u2019": "'",
    "\u2212": "-",
    "EUR$": "€",
    "USD$": "$",
    r"^\((.*)\)$": r"-\1",
    "^([+-]?) ?([$€£¥]|CHF) ?([+-]?)(.*)$": r"\1\3\4 \2",
}
_DAYS = (
    *("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
    *("%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y"),  # the day first, then the month
)
_DATES = [_ISO, *(day + at for day in _DAYS for at in ("", " %H:%M", " %H:%M:%S"))]


class TableError(ValueError):
    """A table that cannot be used. The message lists all columns that are odd."""


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
            An example of numbers with a sign, a decimal comma or marks between
            thousands, such as `"1.234,5 €"`.
        na: Further words for a missing entry, which becomes NaN.

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
        """Return cells as float32 numbers; `decimal` is the mark of plain numbers."""
        if self.kind == "number" and not self.format:
            values = _plain_numbers(cells, decimal)
        else:
            pandas = require("pandas", extra="experiments")
            places, found = pandas.factorize(cells)  # place -1: missing
            values = np.append(self._values(pandas.Series(found)), np.nan)[places]
        with np.errstate(over="ignore"):
            values = values.astype(np.float32)
        odd = ~np.isfinite(values) & ~(cells.isna() | cells.isin(_NO_ENTRY)).to_numpy()
        if self.kind == "category":
            values[odd] = UNKNOWN
        elif odd.any():
            must = {
                "number": f"finite numbers, such as {self.format or '-1.5 or 2e3'}",
                "boolean": "truth values, such as true and false",
                "date": f"dates of the format {self.format}",
            }[self.kind]
            which = f"unlike {odd.sum()} of its cells (`--na` names missing entries)"
            raise refusal(cells[odd], f"must hold {must}, {which}")
        return values

    def _values(self, texts: "Series") -> np.ndarray:
        if self.kind == "number":
            return _numbers(_clean(texts), self.format)
        if self.kind == "date":
            return _days(texts, self.format)
        known = {name: place for place, name in enumerate(self.names)}
        if self.kind == "boolean":
            texts = texts.str.lower()
            known = {word: n for pair in _BOOLEANS for n, word in enumerate(pair)}
        return _without_point(texts).map(known).to_numpy("float64")


def infer(
    cells: "Series",
    role: str,
    task: str | None,
    decimal: str,
    sure: bool,
    dates: str | None,
) -> Column:
    """Decide what a column holds; `sure` says that the user named the decimal mark."""
    name, target = str(cells.name), role == "the target"
    if role in ("a category", "the groups") or (target and task == "classification"):
        return _category(cells)
    values = _plain_numbers(cells, decimal)
    entries = cells.notna() & ~cells.isin(_NO_ENTRY)
    few = target and task is None and cells[entries].nunique() <= _MOST_CLASSES
    if not np.isnan(values[entries]).any():
        whole = not (np.floor(values) < values).any()
        codes = whole and not target and cells.str.match("0[0-9]+$", na=False).any()
        return _category(cells[entries]) if codes or (whole and few) else Column(name)
    texts = cells[entries].drop_duplicates()
    if not target and any(texts.str.lower().isin(pair).all() for pair in _BOOLEANS):
        return Column(name, "boolean")
    form = _number_format(texts, decimal, sure)
    if form or (form == "" and not few) or (target and task):
        return Column(name, format=form or "")
    if not target and (form := _date_format(texts, dates)):
        return Column(name, "date", format=form)
    return _category(cells)


def _category(cells: "Series") -> Column:
    """Return the encoding of categories, of which numbers are first and sorted."""
    texts = _without_point(cells.dropna().drop_duplicates()).drop_duplicates()
    values = np.nan_to_num(_plain_numbers(texts, "."), nan=np.inf)
    names = [text for _, text in sorted(zip(values, texts, strict=True))]
    return Column(str(cells.name), "category", tuple(names))


def _number_format(cells: "Series", decimal: str, sure: bool) -> str | None:
    """Return an example of numbers with signs or marks, "" if plain, or `None`."""
    texts = _clean(cells)
    like = texts.str.fullmatch(_NUMBER)
    if not like.any():
        return None
    unit = texts[like].str.replace("^.*[0-9] ?", "", regex=True).mode()[0]
    readings = {} if unit else {"": _plain_numbers(cells, decimal)}
    for example in ("1,234.5", "1.234,5")[:: -1 if decimal == "," else 1]:
        form = f"{example} {unit}".rstrip()
        readings[form] = _numbers(texts, form)
    best = _most(readings)
    if best and best[0] and not sure:
        mark, point = best[0][1], best[0][5]
        several = len({readings[form].tobytes() for form in best}) > 1
        grouped = texts[like & texts.str.contains(f"[{mark}]")]
        twice = grouped.str.contains(f"[{mark}].*[{mark}{point}]").any()
        if several or not (unit or grouped.empty or twice):
            must = (
                "has numbers whose comma or point may be a decimal mark or separate "
                "thousands; name the decimal mark by `--decimal ,` or `--decimal .`"
            )
            raise refusal(cells[like & texts.str.contains("[.,]")], must)
    return best[0] if best else None


def _date_format(texts: "Series", order: str | None) -> str | None:
    """Return the format that reads the most texts, if half of them are dates."""
    sample = texts.iloc[:: len(texts) // 50 + 1]  # to select formats for all texts
    tried = _DATES if sample.str.contains("[0-9]{4}").any() else []
    forms = [form for form in tried if np.isfinite(_days(sample, form)).any()]
    best = _most({form: _days(texts, form) for form in forms})
    if len(best) > 1 and best[0] != _ISO and order is None:
        must = (
            "holds dates that can be read with the day or with the month first; "
            "use `--dates day-first` or `--dates month-first`"
        )
        raise refusal(texts, must)
    return best[-1 if order == "month-first" else 0] if best else None


def _most(readings: dict[str, np.ndarray]) -> list[str]:
    """Return the formats that read the most texts, if they read half of them."""
    found = {form: np.isfinite(values).mean() for form, values in readings.items()}
    return [form for form in found if found[form] == max(found.values()) >= 0.5]


def refusal(cells: "Series", must: str) -> TableError:
    """Return an error about a column, with the first of some cells."""
    where = f"row {cells.index[0]}: column {cells.name!r}"
    return TableError(f"{where} {must}. Received: {cells.iloc[0]!r}")


def _without_point(texts: "Series") -> "Series":
    """Return texts in which whole numbers such as 2.0 have no decimal mark."""
    return texts.str.replace(r"^([+-]?[0-9]+)\.0$", r"\1", regex=True)


def _plain_numbers(texts: "Series", decimal: str) -> np.ndarray:
    """Return texts such as `-1.5e3` as numbers, and NaN for others."""
    if decimal == ",":
        texts = texts.str.replace(".", "?", regex=False)
        texts = texts.str.replace(",", ".", regex=False)
    pyarrow = require("pyarrow", extra="experiments")
    try:
        array = pyarrow.array(texts, from_pandas=True).cast("float64")
    except ValueError:
        texts = texts.where(texts.str.fullmatch(_PLAIN, na=False))
        array = pyarrow.array(texts, from_pandas=True).cast("float64")
    return array.to_numpy(zero_copy_only=False)


def _clean(texts: "Series") -> "Series":
    """Return texts with the same signs for the same things, and the currency last."""
    for old, new in _SAME.items():
        texts = texts.str.replace(old, new, regex=True)
    return texts


def _numbers(texts: "Series", form: str) -> np.ndarray:
    """Return clean texts in the format of an example as numbers, and NaN for others."""
    number, _, unit = form.partition("5")
    point, mark = number[-1], ",."[number[-1] == ","]
    # A currency may be missing, but not the sign of per cent. 5 % is 5.
    ending = f"( ?{re.escape(unit.strip())}){'?' * ('%' not in unit)}" if unit else ""
    whole = f"([1-9][0-9]{{0,2}}([{mark}' ][0-9]{{3}})+|[0-9]+)"
    body = f"({whole}([{point}][0-9]*)?|[{point}][0-9]+)([eE][+-]?[0-9]+)?"
    texts = texts.where(texts.str.fullmatch(f"[+-]? ?{body}{ending}", na=False))
    digits = texts.str.replace(f"[^0-9eE{point}-]", "", regex=True)
    return _plain_numbers(digits, point)


def _days(texts: "Series", form: str) -> np.ndarray:
    """Return dates as numbers of days since 1970-01-01 in UTC, and NaN for others."""
    pandas = require("pandas", extra="experiments")
    if form == _ISO:
        form = "ISO8601"
        texts = texts.where(texts.str.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", na=False))
    moments = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
    since = moments - pandas.Timestamp(0, tz="UTC")
    return (since / pandas.Timedelta(days=1)).to_numpy("float64")
