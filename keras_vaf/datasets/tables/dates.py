"""`date_format`, which finds the format of a column of dates."""

import datetime
import re

from keras_vaf.datasets.tables.cells import Cells

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


def date_format(cells: Cells, dates: str | None) -> str:
    """Return the format of a column of dates, or "" for other columns.

    Raises:
        Odd: If the order of day and month is unknown, or if years have two digits.
    """
    read = {
        form: [name for name in cells.names if day(name, form) is not None]
        for form in _candidates(cells.names)
    }
    shares = {form: cells.share(names) for form, names in read.items()}
    most = max(shares.values(), default=0)
    if most <= 0.5:
        return ""
    found = [form for form, share in shares.items() if share == most]
    example = read[found[0]][:1]
    if "%y" in found[0]:
        must = (
            "holds dates whose years have two digits; write years with four digits in "
            "the file"
        )
        raise cells.odd(must, example, ignore=(cells.name,))
    if not found[0].startswith(_DAY_FIRST) or not found[-1].startswith(_MONTH_FIRST):
        return found[0]
    if dates is None:
        must = "holds dates that can be read with the day or with the month first"
        raise cells.odd(must, example, dates="day-first")
    return found[0 if dates == "day-first" else -1]


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
