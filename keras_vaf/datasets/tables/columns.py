"""`Column`, which reads the cells of a column as numbers, and `infer`."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from keras_vaf.utils import check_choice, require

if TYPE_CHECKING:
    from pandas import Series

Kind = Literal["number", "category", "boolean", "date"]

_MOST_CLASSES = 20  # different whole numbers that are classes
_ROWS = 5  # per class, on average; two whole numbers are classes of any number of rows
UNKNOWN = -1  # number of a category that was not in the training rows
_ISO = "ISO 8601"  # dates such as 2024-12-31 and 2024-12-31 23:59:59
_BOOLEANS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
MISSING = ("?", "NA", "N/A", "n/a", "nan", "NaN", "null", "None", "NaT", "<NA>")
_WORDS = ("-", "--", "\u2013", "k.A.", "k. A.", "k.A", "n.a.", "N.A.", "#N/A")
_NO_ENTRY = MISSING + _WORDS  # among numbers, dates and truth values

_NUMBER = "[+-]? ?([0-9][0-9.,' ]*)?[0-9] ?([%$€£¥]|CHF)?"
_PLAIN = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
# Signs that stand for others. Parentheses mean a minus. The currency moves to the end.
_SAME = (
    *(("[\u00a0\u2009\u202f]", " "), ("\u2019", "'"), ("\u2212", "-")),
    *(("EUR$", "€"), ("USD$", "$"), (r"^\((.*)\)$", r"-\1")),
    ("^([+-]?) ?([$€£¥]|CHF) ?([+-]?)(.*)$", r"\1\3\4 \2"),
)
_DAYS = (
    *("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y"),
    *("%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y"),  # the day first, then the month
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_DATES = [_ISO, *(day + time for day in _DAYS for time in _TIMES)]


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
        names: The categories. Any other cell becomes -1. An empty name is the category
            of missing entries, which are NaN otherwise.
        format: Format of dates: `"ISO 8601"`, or one of `datetime.datetime.strptime`.
            An example of numbers with a sign, a decimal comma or marks between
            thousands, such as `"1.234,5 €"`.
        na: Further words for a missing entry.
        decimal: Decimal mark of plain numbers in files that do not show theirs.
        offset: Number that is subtracted, so that float32 keeps more digits.

    Raises:
        ValueError: If `kind` is not one of these.

    Example:

    >>> import pandas
    >>> sizes = pandas.Series(["S", None, "L", "XL"])
    >>> Column("size", "category", ("L", "S")).read(sizes)
    array([ 1., nan,  0., -1.])
    """

    name: str
    kind: Kind = "number"
    names: tuple[str, ...] = ()
    format: str = ""
    na: tuple[str, ...] = ()
    decimal: str = ""
    offset: float = 0.0

    def __post_init__(self) -> None:
        """Check the kind."""
        check_choice("kind", self.kind, get_args(Kind))
        for field in ("names", "na"):  # lists in a file
            object.__setattr__(self, field, tuple(getattr(self, field)))

    def read(
        self, cells: "Series", numbers: np.ndarray | None = None, decimal: str = ""
    ) -> np.ndarray:
        """Return cells as float64 numbers; `numbers` are those that are not text."""
        cells = cells.fillna("") if "" in self.names else cells
        places, found = cells.factorize()  # place -1: missing
        texts = found.astype("str").to_series()
        values = np.append(self._values(texts, decimal or self.decimal), np.nan)[places]
        if self.kind == "category":
            return np.where(np.isnan(values) & cells.notna(), UNKNOWN, values)
        if numbers is not None and self.kind == "number" and "%" not in self.format:
            values = np.where(np.isnan(numbers), values, numbers)
        values = values - self.offset
        small = np.abs(values) <= np.finfo("float32").max
        odd = cells.notna() & ~cells.isin(_NO_ENTRY) & ~small
        if odd.any():
            must = {
                "number": f"finite numbers, such as {self.format or '-1.5 or 2e3'}",
                "boolean": "truth values, such as true and false",
                "date": f"dates of the format {self.format}",
            }[self.kind]
            which = f"unlike {odd.sum()} of its cells (`--na` names missing entries)"
            raise refusal(cells[odd], f"must hold {must}, {which}")
        return values

    def _values(self, texts: "Series", decimal: str) -> np.ndarray:
        if self.kind == "number" and not self.format:
            return _plain_numbers(texts, decimal)
        if self.kind == "number":
            return _numbers(_clean(texts), self.format)
        if self.kind == "date":
            return _days(texts, self.format)
        known = {name: place for place, name in enumerate(self.names)}
        if self.kind == "boolean":
            texts = texts.str.lower()
            known = {word: n for pair in _BOOLEANS for n, word in enumerate(pair)}
        return texts.map(known).to_numpy("float64")


def infer(cells: "Series", role: str, form: tuple[Any, ...]) -> Column:
    """Decide what a column holds; `form`: task, decimal mark, is it sure, dates."""
    task, decimal, _, dates = form
    name, target = str(cells.name), role == "the target"
    if role in ("a category", "the groups") or (target and task == "classification"):
        return _category(cells, role == "a category")
    entries = cells[cells.notna() & ~cells.isin(_NO_ENTRY)]
    texts = entries.drop_duplicates()
    values = _plain_numbers(texts, decimal)
    most = max(2, min(_MOST_CLASSES, len(entries) // _ROWS))
    few = target and task is None and len(texts) <= most
    if not np.isnan(values).any():
        codes = few or (not target and texts.str.match("0[0-9]+$").any())
        if not codes or (np.floor(values) < values).any():
            return Column(name)
        return replace(_category(texts), na=_NO_ENTRY)
    if not target and any(texts.str.lower().isin(pair).all() for pair in _BOOLEANS):
        return Column(name, "boolean")
    found = _number_format(texts, values, form)
    if found or (found == "" and not few) or (target and task):
        return Column(name, format=found or "")
    if not target and (found := _date_format(texts, dates)):
        return Column(name, "date", format=found)
    return _category(cells, not target)


def _category(cells: "Series", missing: bool = False) -> Column:
    """Return the encoding of categories, of which numbers are first and sorted."""
    texts = cells.dropna().drop_duplicates()
    values = np.nan_to_num(_plain_numbers(texts, "."), nan=np.inf)
    names = [text for _, text in sorted(zip(values, texts, strict=True))]
    names += [""] * bool(missing and cells.isna().mean() > 0.5)
    return Column(str(cells.name), "category", tuple(names))


def _number_format(cells: "Series", plain: np.ndarray, form: Any) -> str | None:
    """Return an example of numbers with signs or marks, "" if plain, or `None`."""
    texts = _clean(cells)
    like = texts.str.fullmatch(_NUMBER)
    if not like.any():
        return None
    unit = texts[like].str.replace("^.*[0-9] ?", "", regex=True).mode()[0]
    readings = {} if unit else {"": plain}
    for example in ("1,234.5", "1.234,5")[:: -1 if form[1] == "," else 1]:
        written = f"{example} {unit}".rstrip()
        readings[written] = _numbers(texts, written)
    best = _most(readings)
    if best and best[0] and not form[2]:
        mark, point = best[0][1], best[0][5]
        several = len({readings[each].tobytes() for each in best}) > 1
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


def _plain_numbers(texts: "Series", decimal: str) -> np.ndarray:
    """Return texts such as `-1.5e3` as numbers, and NaN for others."""
    if decimal == ",":
        texts = texts.str.translate({ord("."): "?", ord(","): "."})
    texts = texts.where(texts.str.fullmatch(_PLAIN, na=False))
    return texts.to_numpy("float64")


def _clean(texts: "Series") -> "Series":
    """Return texts with the same signs for the same things, and the currency last."""
    for old, new in _SAME:
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
        texts = texts.str.replace("(?<=[- T:])([0-9])(?![0-9])", r"0\1", regex=True)
        texts = texts.where(texts.str.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", na=False))
    texts = texts.str.replace("([A-Za-z]{3})[a-z]+", r"\1", regex=True)  # months
    moments = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
    since = moments.to_numpy("datetime64[us]") - np.datetime64(0, "us")
    return since / np.timedelta64(1, "D")
