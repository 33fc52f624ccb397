"""`number_format`, which finds how a column writes its numbers, and `read_number`."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_NUMBER = re.compile(
    r"([+-]?)\s?([$€£¥]?)\s?([+-]?)(\d(?:[\d.,' ]*\d)?)\s?(%|[$€£¥]|EUR|USD|GBP|CHF)?",
    re.ASCII,
)
_SPACES = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'"})
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£"}
_MARKS = [(d, t) for d in ".," for t in ("", ".", ",", "'", " ") if t != d]
_WITH_POINTS = ("$", "£", "¥")  # currencies whose numbers have decimal points


class NumberFormat(NamedTuple):
    """The signs and marks of the numbers of a column.

    Attributes:
        decimal: Decimal mark.
        thousands: Mark between thousands, or an empty text.
        unit: A currency sign or %, or an empty text. Numbers without the currency sign
            are read, too.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @classmethod
    def of(cls, text: str) -> "NumberFormat":
        """Return the format whose `text` is given."""
        number, _, unit = text.partition("5")
        whole = number.removeprefix("1").removesuffix(number[-1])
        return cls(number[-1], whole.removesuffix("234"), unit.strip())

    @property
    def text(self) -> str:
        """A number in this format, such as `1.234,5 €`."""
        return f"1{self.thousands}234{self.decimal}5 {self.unit}".rstrip()

    def read(self, text: str) -> float | None:
        """Return the number that a text stands for, or `None` if there is none.

        If the format has no mark between thousands, the comma or point that is not the
        decimal mark is taken as one.
        """
        number = read_number(text, self)
        if number is not None or self.thousands:
            return number
        other = "," if self.decimal == "." else "."
        return read_number(text, self._replace(thousands=other))


class UnclearMarks(Exception):
    """Numbers whose marks have two meanings.

    Args:
        text: One of the numbers.
        decimal: The more likely decimal mark.
    """

    def __init__(self, text: str, decimal: str) -> None:
        super().__init__(text, decimal)
        self.text, self.decimal = text, decimal


def read_number(text: str, form: NumberFormat) -> float | None:
    """Return the number that a text stands for, or `None` if it has another form.

    A percentage is not divided by 100.

    Args:
        text: The text.
        form: The format.

    Example:

    >>> read_number("1.234,56 €", NumberFormat.of("1.234,5 €"))
    1234.56
    """
    parts = _parts(text)
    if parts is None or parts[2] not in ("%" if form.unit == "%" else form.unit, ""):
        return None
    sign, body, unit = parts
    if form.unit == "%" and not unit:
        return None
    whole, mark, fraction = body.partition(form.decimal)
    if form.thousands and form.thousands in whole:
        first, *groups = whole.split(form.thousands)
        if not 1 <= len(first) <= 3 or first[0] == "0" or {*map(len, groups)} != {3}:
            return None
        whole = "".join((first, *groups))
    if not whole.isdigit() or (mark and not fraction.isdigit()):
        return None
    return float(f"{sign}{whole}.{fraction or 0}")


def number_format(
    texts: Sequence[str], decimal: str | None = None, likely: str | None = None
) -> NumberFormat | None:
    """Return how texts write numbers, or `None` if they have no signs or marks.

    Args:
        texts: Different texts of a column. Other texts among them are ignored.
        decimal: The decimal mark, if it is known.
        likely: The decimal mark of other columns.

    Raises:
        UnclearMarks: If a mark may be a decimal mark or separate thousands.
    """
    parts = {text: part for text in texts if (part := _parts(text))}
    units = {unit for _, _, unit in parts.values()} - {""}
    marks = {mark for _, body, _ in parts.values() for mark in body if mark in ".,' "}
    plain = {"."} if "," not in (decimal, likely) else set()
    if len(units) > 1 or not (units or marks - plain or _repeats(parts, ".")):
        return None
    unit = units.pop() if units else ""
    known = decimal
    if unit and decimal is None:
        known = likely or ("." if unit in _WITH_POINTS else None)
    forms = _best_formats(parts, unit)
    if len(forms) > 1 and known:
        forms = [form for form in forms if form.decimal == known] or forms
    if not forms:
        return None
    best = forms[0]
    certain = decimal or unit or best.thousands in ("", "'", " ")
    if len(forms) > 1 or not (certain or _proves(parts, best)):
        marked = [text for text in parts if "," in text or "." in text]
        raise UnclearMarks(marked[0], likely or best.decimal)
    return best


def _best_formats(
    parts: dict[str, tuple[str, str, str]], unit: str
) -> list[NumberFormat]:
    """Return the formats that read the most texts, one of those with equal numbers."""
    readings: dict[tuple[float | None, ...], NumberFormat] = {}
    for marks in _MARKS:
        form = NumberFormat(*marks, unit)
        readings.setdefault(tuple(read_number(text, form) for text in parts), form)
    counts = {values: len(values) - values.count(None) for values in readings}
    most = max(counts.values())
    return [readings[values] for values, count in counts.items() if count == most > 0]


def is_number(text: str) -> bool:
    """Return whether a text is a number, perhaps with a sign or with marks."""
    parts = _parts(text)
    return parts is not None and any(
        read_number(text, NumberFormat(*marks, parts[2])) is not None
        for marks in _MARKS
    )


def _parts(text: str) -> tuple[str, str, str] | None:
    """Return sign, digits with marks, and unit of a number."""
    found = _NUMBER.fullmatch(text.translate(_SPACES))
    if found is None:
        return None
    sign, before, other_sign, body, after = found.groups("")
    if (sign and other_sign) or (before and after):
        return None
    unit = before or after
    return sign or other_sign, body, _SYMBOLS.get(unit, unit)


def _bodies(parts: dict[str, tuple[str, str, str]]) -> Iterator[str]:
    return (body for _, body, _ in parts.values())


def _repeats(parts: dict[str, tuple[str, str, str]], mark: str) -> bool:
    return any(body.count(mark) > 1 for body in _bodies(parts))


def _proves(parts: dict[str, tuple[str, str, str]], form: NumberFormat) -> bool:
    """Return whether a number has both marks, or the mark between thousands twice."""
    both = any({form.decimal, form.thousands} <= {*body} for body in _bodies(parts))
    return both or _repeats(parts, form.thousands)
