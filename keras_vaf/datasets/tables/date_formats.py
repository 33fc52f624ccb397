"""Formats of dates in text, with `date_format`."""

import datetime
import re
from collections.abc import Mapping
from typing import Literal

from keras_vaf.datasets.tables.problems import Odd

DateOrder = Literal["day-first", "month-first"]

ISO = "ISO 8601"
"""Format of dates such as `2024-12-31` and `2024-12-31 23:59:59`."""

_ANY_ORDER = (
    *("%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
    # These are refused, because the century is unknown.
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y", "%y-%m-%d"),
    *("%d-%b-%y", "%d %b %y"),
)
_DAY_FIRST = ("%d/%m/%Y", "%d-%m-%Y")
_MONTH_FIRST = ("%m/%d/%Y", "%m-%d-%Y")
_FORMATS = [
    form + time
    for form in (*_ANY_ORDER, *_DAY_FIRST, *_MONTH_FIRST)
    for time in ("", " %H:%M", " %H:%M:%S")
]

_SAMPLE = 50  # texts that select the formats to try on all texts
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = datetime.timedelta(days=1)


def date_format(
    name: str, counts: Mapping[str, int], order: DateOrder | None
) -> str | None:
    """Return the format that reads the most texts, if more than half are dates.

    Args:
        name: Name of the column.
        counts: Number of cells with each text.
        order: Order of day and month, where both orders read the texts.

    Raises:
        Odd: If the order of day and month is unknown, or if years have two digits.
    """
    cells = {
        form: sum(n for text, n in counts.items() if day(text, form) is not None)
        for form in _candidates([*counts])
    }
    most = max(cells.values(), default=0)
    if most <= sum(counts.values()) / 2:
        return None
    forms = [form for form, count in cells.items() if count == most]
    first, last = forms[0], forms[-1]
    example = [text for text in counts if day(text, first) is not None][:1]
    if "%y" in first:
        must = (
            "holds dates whose years have two digits; write years with four digits in "
            "the file"
        )
        raise Odd(must, example, {"ignore": (name,)})
    if first.startswith(_DAY_FIRST) and last.startswith(_MONTH_FIRST):
        if order is None:
            must = "holds dates that can be read with the day or with the month first"
            raise Odd(must, example, {"dates": "day-first"})
        return first if order == "day-first" else last
    return first


def _candidates(names: list[str]) -> list[str]:
    """Return the formats of some of the texts."""
    sample = names[:: len(names) // _SAMPLE + 1]
    # No other format reads a text of ISO 8601.
    others = [name for name in sample if day(name, ISO) is None]
    found = [ISO] if len(others) < len(sample) else []
    # `strptime` takes a millisecond for a format that it has not just used.
    shapes = {_shape(name) for name in others}
    return found + [
        form
        for form in _FORMATS
        if _shape(example_of(form)) in shapes
        and any(day(name, form) is not None for name in others)
    ]


def _shape(text: str) -> str:
    """Return a text with one 0 for each number, and one a for each word."""
    return re.sub(r"\s+", " ", re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", text)))


def day(text: str, form: str) -> float | None:
    """Return a date as the number of days since 1970-01-01, in UTC.

    Args:
        text: The date.
        form: Format of the date, as in `Column`.

    Returns:
        The number, or `None` if the text is not a date in this format.

    Example:

    >>> day("31.12.1970 12:00", "%d.%m.%Y %H:%M")
    364.5
    """
    try:
        if form == ISO:
            moment = datetime.datetime.fromisoformat(text)
        else:
            moment = datetime.datetime.strptime(text, form)
        if moment.tzinfo is not None:
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) / _DAY


def example_of(form: str) -> str:
    """Return a date in a format."""
    if form == ISO:
        return "2024-12-31"
    return datetime.datetime(2024, 12, 31).strftime(form)
