"""Formats of numbers and dates in text, such as `1.234,5 €` and `%d.%m.%Y`."""

import re
from typing import Any, Literal

import numpy as np

from keras_vaf.utils import require

DateOrder = Literal["day-first", "month-first"]

ISO = "ISO 8601"
"""Format of dates such as `2024-12-31` and `2024-12-31 23:59:59`."""

_NUMBER = r"^(?P<s>[+-]?)\s?(?P<body>\d(?:[\d.,' ]*\d)?)\s?(?P<unit>[%$€£¥]|CHF|)$"
# Signs that stand for others. An amount in parentheses is negative. The currency moves
# to the end.
_SAME = {
    "[\u00a0\u2009\u202f]": " ",
    "\u2019": "'",
    "\u2212": "-",
    "EUR$": "€",
    "USD$": "$",
    "GBP$": "£",
    r"^\((.*)\)$": r"-\1",
    r"^([+-]?)\s?([$€£¥])\s?([+-]?)(.*)$": r"\1\3\4 \2",
}
_WITH_POINTS = "$£¥"  # currencies whose numbers have decimal points
_MARKS = [(d, t) for d in ".," for t in ("", ".", ",", "'", " ") if t != d]
_DATES = [
    day + time
    for day in (
        *("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
        # These are refused, because the century is unknown.
        *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d"),
        *("%d-%b-%y", "%d %b %y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y"),
    )
    for time in ("", " %H:%M", " %H:%M:%S")
]
_SAMPLE = 50  # texts that select the formats of dates to try on all texts


class Odd(ValueError):
    """An error with the rule of a column, a text that breaks it, and advice."""

    def __init__(self, must: str, text: str | None = None, advice: str = "") -> None:
        super().__init__(must)
        self.text, self.advice = text, advice


def arrow() -> Any:
    """Return the module `pyarrow.compute`."""
    return require("pyarrow.compute", extra="experiments")


def matches(texts: Any, pattern: str) -> np.ndarray:
    """Return the mask of the texts that have a pattern."""
    found = arrow().match_substring_regex(texts, pattern)
    return found.fill_null(False).to_numpy(zero_copy_only=False)


def _floats(texts: Any, fits: np.ndarray, decimal: str) -> np.ndarray:
    texts = arrow().replace_substring(texts, decimal, ".")
    numbers = arrow().cast(arrow().if_else(fits, texts, None), "float64")
    return numbers.to_numpy(zero_copy_only=False)


def plain_numbers(texts: Any, decimal: str = ".") -> np.ndarray:
    """Return texts such as `-1.5e3` as numbers, and NaN for others."""
    texts, mark = arrow().replace_substring(texts, "\u2212", "-"), re.escape(decimal)
    fits = matches(texts, rf"^[+-]?(\d+{mark}?\d*|{mark}\d+)([eE][+-]?\d+)?$")
    return _floats(texts, fits, decimal)


class Numbers:
    """Texts that may be numbers, in parts: sign, digits with marks, and unit."""

    def __init__(self, texts: Any) -> None:
        for old, new in _SAME.items():
            texts = arrow().replace_substring_regex(texts, old, new)
        self.sign, self.body, self.unit = (
            arrow().extract_regex(texts, _NUMBER).flatten()
        )

    def have(self, pattern: str) -> np.ndarray:
        """Return the mask of the numbers whose digits and marks have a pattern."""
        return matches(self.body, pattern)

    def read(self, example: str, wide: bool = False) -> np.ndarray:
        """Return the numbers in the format of an example, and NaN for others.

        Numbers without a currency sign are read, too. 5 % is 5. With `wide`, the comma
        or point that is not the decimal mark separates thousands if the example has no
        mark, since new rows may have larger numbers.
        """
        decimal, mark, unit = parts(example)
        mark = mark or (".,"[decimal == "."] if wide else "")
        groups = rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+|" if mark else ""
        fits = self.have(rf"^(?:{groups}\d+)(?:{re.escape(decimal)}\d+)?$")
        fits &= matches(self.unit, f"^(?:{re.escape(unit)}{'|' * (unit != '%')})$")
        digits = arrow().replace_substring(self.body, mark or " ", "")
        digits = arrow().binary_join_element_wise(self.sign, digits, "")
        return _floats(digits, fits, decimal)


def parts(example: str) -> tuple[str, str, str]:
    """Return decimal mark, mark between thousands and unit of `1.234,5 €`."""
    number, _, unit = example.partition("5")
    return number[-1], number[1:-1].removesuffix("234"), unit.strip()


def number_format(
    texts: Any, counts: np.ndarray, decimal: str | None, likely: str | None
) -> str | None:
    """Return an example of numbers with signs or marks, or `None` for other texts.

    `counts` are the cells of each text, `decimal` is the mark that the user named, and
    `likely` that of other numbers of the table.
    """
    numbers = Numbers(texts)
    units = {*arrow().unique(numbers.unit).to_pylist()} - {None, ""}
    marks = {mark for mark in ".,' " if numbers.have(re.escape(mark)).any()}
    points = "," in (decimal, likely) or numbers.have(r"\..*\.").any()
    if len(units) > 1 and matches(numbers.unit, ".").all():
        must = "writes numbers with several signs, such as % and €"
        raise Odd(must, texts[0].as_py(), "Leave it out with `--ignore`.")
    if len(units) > 1 or not (units or marks - (set() if points else {"."})):
        return None
    unit, known = "".join(units), decimal
    if unit and not decimal and not (likely and unit in _WITH_POINTS):
        known = likely or ("." if unit in _WITH_POINTS else None)
    readings: dict[bytes, tuple[str, np.ndarray]] = {}
    for point, mark in _MARKS:
        if mark in {"", *marks}:
            example = f"1{mark}234{point}5 {unit}".rstrip()
            found = ~np.isnan(values := numbers.read(example))
            readings.setdefault(values.tobytes(), (example, found))
    most = max(found.sum() for _, found in readings.values())
    best = [each for each in readings.values() if each[1].sum() == most > 0]
    best = [each for each in best if parts(each[0])[0] == known] or best
    if not best:
        return None
    (example, found), *others = best
    point, mark, _ = map(re.escape, parts(example))
    certain = decimal or unit or mark not in (r"\.", ",")
    if others or not (certain or numbers.have(f"{mark}.*({mark}|{point})").any()):
        must = (
            "has numbers whose comma or point may be a decimal mark or separate "
            "thousands; name the decimal mark"
        )
        text = texts.filter(numbers.have("[.,]"))[0].as_py()
        raise Odd(must, text, "Use `--decimal ,` or `--decimal .`.")
    return example if counts[found].sum() > counts.sum() / 2 else None


def days(texts: Any, form: str) -> np.ndarray:
    """Return dates as numbers of days since 1970-01-01 in UTC, and NaN for others."""
    pandas = require("pandas", extra="experiments")
    texts = texts.to_pandas()
    if form == ISO:
        texts = texts.where(texts.str.contains(r"^\d{4}-\d\d-\d\d", regex=True))
        form = "ISO8601"
    moments = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
    since = moments - pandas.Timestamp(0, tz="UTC")
    return (since / pandas.Timedelta(days=1)).to_numpy(np.float64)


def date_format(texts: Any, counts: np.ndarray, order: DateOrder | None) -> str | None:
    """Return the format that reads the most texts, if more than half are dates.

    `order` is the order of day and month, where both orders read the texts.
    """
    sample = texts[:: len(texts) // _SAMPLE + 1]
    if not matches(sample, r"\d[-./, ]").any():
        return None
    likely = [form for form in (ISO, *_DATES) if not np.isnan(days(sample, form)).all()]
    cells = {form: counts[~np.isnan(days(texts, form))].sum() for form in likely}
    most = max(cells.values(), default=0)
    if most <= counts.sum() / 2:
        return None
    forms = [form for form in likely if cells[form] == most]
    text = texts.filter(~np.isnan(days(texts, forms[0])))[0].as_py()
    if "%y" in forms[0]:
        must = "holds dates whose years have two digits; write them with four digits"
        raise Odd(must, text, "Or leave the column out with `--ignore`.")
    if forms[0].startswith("%d") and forms[-1].startswith("%m"):
        if order is None:
            must = "holds dates that can be read with the day or with the month first"
            advice = "Use `--dates day-first` or `--dates month-first`."
            raise Odd(must, text, advice)
        return forms[0 if order == "day-first" else -1]
    return forms[0]
