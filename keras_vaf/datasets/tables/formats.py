"""Numbers and dates in text: their formats, such as `1.234,5 €` and `%d.%m.%Y`."""

import re
from typing import TYPE_CHECKING, Literal

import numpy as np

from keras_vaf.utils import require

if TYPE_CHECKING:
    from pandas import Series

DateOrder = Literal["day-first", "month-first"]

ISO = "ISO 8601"
"""Format of dates such as `2024-12-31` and `2024-12-31 23:59:59`."""

_NUMBER = r"[+-]? ?([0-9][0-9.,' ]*)?[0-9] ?([%$€£¥]|CHF)?"
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
    r"^([+-]?) ?([$€£¥]) ?([+-]?)(.*)$": r"\1\3\4 \2",
}
_FORMS = [f"1{t}234{d}5" for d in ".," for t in ("", ".", ",", "'", " ") if t != d]
_DATES = [
    day + time
    for day in (
        *("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
        *("%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y"),
    )
    for time in ("", " %H:%M", " %H:%M:%S")
]
_SAMPLE = 50  # texts that select the formats of dates to try on all texts


class Odd(ValueError):
    """A rule that a column breaks, and a text that breaks it."""


def clean(texts: "Series") -> "Series":
    """Return texts with the same signs for the same things, and the currency last."""
    for old, new in _SAME.items():
        texts = texts.str.replace(old, new, regex=True)
    return texts


def floats(texts: "Series") -> np.ndarray:
    """Return texts such as `-1.5e3` as numbers, or raise a `ValueError`."""
    array = require("pyarrow", extra="experiments").array(texts, from_pandas=True)
    return array.cast("float64").to_numpy(zero_copy_only=False)


def numbers_like(example: str, texts: "Series") -> np.ndarray:
    """Return texts in the format of an example as numbers, and NaN for others.

    Exponents are read, and numbers without the currency sign, too. 5 % is 5.
    """
    number, _, unit = example.partition("5")
    mark, point = number[1:-1].removesuffix("234"), re.escape(number[-1])
    groups = rf"[1-9][0-9]{{0,2}}({re.escape(mark)}[0-9]{{3}})+|" if mark else ""
    ending = f"( ?{re.escape(unit.strip())}){'?' * ('%' not in unit)}" if unit else ""
    body = rf"({groups}[0-9]+)({point}[0-9]*)?|{point}[0-9]+"
    pattern = rf"[+-]? ?({body})([eE][+-]?[0-9]+)?{ending}"
    texts = texts.where(texts.str.fullmatch(pattern, na=False))
    digits = texts.str.replace(f"[^0-9eE{point}-]", "", regex=True)
    return floats(digits.str.replace(number[-1], "."))


def number_format(counts: "Series", decimal: str | None, comma: bool) -> str | None:
    """Return an example of numbers with signs or marks, or `None` for other texts.

    `counts` are the cells of each text, `decimal` is the mark that the user named, and
    `comma` says whether other numbers of the table have decimal commas.
    """
    texts = clean(counts.index.to_series())
    like = texts[texts.str.fullmatch(_NUMBER)]
    if like.empty:
        return None
    unit = like.str.replace("^.*[0-9] ?", "", regex=True).mode()[0]
    marks = {"", *"".join(like.str.replace("[^., ']", "", regex=True).unique())}
    forms = [form for form in _FORMS if form[1:-2].removesuffix("234") in marks]
    readings = {form: numbers_like(f"{form} {unit}".rstrip(), texts) for form in forms}
    found = {form: np.isfinite(values).sum() for form, values in readings.items()}
    best = [form for form in readings if found[form] == max(found.values())]
    best = [*{readings[form].tobytes(): form for form in reversed(best)}.values()]
    plain = "1234.5" in best and decimal != "," and not comma
    if not unit and (plain or marks == {""}):
        return None
    usual = unit in ("$", "£", "¥")  # Their numbers have decimal points.
    known = decimal or (",."[usual] if unit and comma != usual else None)
    form, *others = [form for form in best if form[-2] == known] or best
    if 2 * counts[np.isfinite(readings[form])].sum() <= counts.sum():
        return None
    twice = like.str.contains(f"[{form[1]}].*[{form[1]}{form[-2]}]").any()
    if others or not (decimal or unit or form[1] not in ".," or twice):
        must = (
            "has numbers whose comma or point may be a decimal mark or separate "
            "thousands; name the decimal mark by `--decimal ,` or `--decimal .`"
        )
        raise Odd(must, like.index[like.str.contains("[.,]")][0])
    return f"{form} {unit}".rstrip()


def days(texts: "Series", form: str = ISO) -> np.ndarray:
    """Return dates as numbers of days since 1970-01-01 in UTC, and NaN for others."""
    pandas = require("pandas", extra="experiments")
    if form == ISO:
        form = "ISO8601"
        texts = texts.where(texts.str.match("[0-9]{4}-[0-9]{2}-[0-9]{2}", na=False))
    moments = pandas.to_datetime(texts, format=form, errors="coerce", utc=True)
    since = moments - pandas.Timestamp(0, tz="UTC")
    return (since / pandas.Timedelta(days=1)).to_numpy("float64")


def date_format(counts: "Series", order: DateOrder | None) -> str | None:
    """Return the format that reads the most texts, if more than half are dates.

    `order` is the order of day and month, where both orders read the texts.
    """
    texts = counts.index.to_series()
    sample = texts.iloc[:: len(texts) // _SAMPLE + 1]
    forms = [form for form in (ISO, *_DATES) if not np.isnan(days(sample, form)).all()]
    cells = [int(counts[~np.isnan(days(texts, form))].sum()) for form in forms]
    if 2 * max(cells, default=0) <= counts.sum():
        return None
    best = [f for f, n in zip(forms, cells, strict=True) if n == max(cells)]
    both = best[0].startswith("%d") and best[-1].startswith("%m")
    if both and order is None:
        must = (
            "holds dates that can be read with the day or with the month first; "
            "use `--dates day-first` or `--dates month-first`"
        )
        raise Odd(must, texts.iloc[0])
    return best[-1 if both and order == "month-first" else 0]
