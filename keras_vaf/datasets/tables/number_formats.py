"""Formats of numbers in text, such as `1.234,5 €`, with `number_format`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from keras_vaf.datasets.tables.problems import Odd

_NUMBER = re.compile(
    r"([+-]?)\s?([$€£¥]?)\s?([+-]?)(\d(?:[\d.,' ]*\d)?)\s?(%|[$€£¥]|EUR|USD|GBP|CHF)?",
    re.ASCII,
)
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_CODE = re.compile(r"0\d+", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+", re.ASCII)
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

    Example:

    >>> NumberFormat.of("1.234,5 €").read("1.234,56 €")
    1234.56
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @classmethod
    def of(cls, example: str) -> "NumberFormat":
        """Return the format whose `example` is given."""
        number, _, unit = example.partition("5")
        whole = number.removeprefix("1").removesuffix(number[-1])
        return cls(number[-1], whole.removesuffix("234"), unit.strip())

    @property
    def example(self) -> str:
        """A number in this format, such as `1.234,5 €`."""
        return f"1{self.thousands}234{self.decimal}5 {self.unit}".rstrip()

    def read(self, text: str) -> float | None:
        """Return the number that a text stands for, or `None` if it has another form.

        A percentage is not divided by 100.
        """
        parts = _parts(text)
        if parts is None or (parts[2] != self.unit and (parts[2] or self.unit == "%")):
            return None
        whole, mark, fraction = parts[1].partition(self.decimal)
        if self.thousands and self.thousands in whole:
            groups = rf"[1-9]\d{{0,2}}({re.escape(self.thousands)}\d{{3}})+"
            if not re.fullmatch(groups, whole, re.ASCII):
                return None
            whole = whole.replace(self.thousands, "")
        if not whole.isdigit() or (mark and not fraction.isdigit()):
            return None
        return float(f"{parts[0]}{whole}.{fraction or 0}")

    def read_any(self, text: str) -> float | None:
        """Return a number as `read` does, with any mark between thousands.

        If the format has no mark between thousands, the comma or point that is not the
        decimal mark is taken as one.
        """
        number = self.read(text)
        if number is not None or self.thousands:
            return number
        return self._replace(thousands="," if self.decimal == "." else ".").read(text)


def number_format(
    name: str, counts: Mapping[str, int], decimal: str | None, likely: str | None
) -> str | None:
    """Return the format of text that is intended as numbers, or `None`.

    Args:
        name: Name of the column.
        counts: Number of cells with each text.
        decimal: Decimal mark.
        likely: Decimal mark of other numbers of the table.

    Returns:
        The format, as in `Column`; empty for numbers without signs and marks.

    Raises:
        Odd: If the column writes its numbers in several ways.
    """
    if form := marked_format(counts, decimal, likely):
        return form
    odd = [text for text in counts if not is_plain(text)]
    if len(odd) == len(counts) and all(map(is_number, odd)):
        must = "writes numbers with several signs, such as % and €"
        raise Odd(must, odd, {"ignore": (name,)})
    few = sum(counts[text] for text in odd) <= sum(counts.values()) / 2
    return "" if few or all(map(reads_as_number, counts)) else None


def marked_format(
    counts: Mapping[str, int], decimal: str | None, likely: str | None
) -> str | None:
    """Return the format of numbers with signs or marks, or `None` for other texts.

    Raises:
        Odd: If a mark may be a decimal mark or separate thousands.
    """
    parts = {text: part for text in counts if (part := _parts(text))}
    bodies = [body for _, body, _ in parts.values()]
    units = {unit for _, _, unit in parts.values()} - {""}
    marks = {mark for mark in ".,' " if any(mark in body for body in bodies)}
    if "," not in (decimal, likely) and not any(b.count(".") > 1 for b in bodies):
        marks -= {"."}
    if len(units) > 1 or not (units or marks):
        return None
    unit = units.pop() if units else ""
    known = decimal or (unit and (likely or ("." if unit in _WITH_POINTS else None)))
    forms = _best_formats(parts, unit)
    forms = [form for form in forms if form.decimal == known] or forms
    if not forms:
        return None
    best = forms[0]
    certain = decimal or unit or best.thousands in ("", "'", " ")
    proven = any(
        {best.decimal, best.thousands} <= {*body} or body.count(best.thousands) > 1
        for body in bodies
    )
    if len(forms) > 1 or not (certain or proven):
        unclear = next(text for text in parts if "," in text or "." in text)
        must = (
            "has numbers whose comma or point may be a decimal mark or separate "
            "thousands; name the decimal mark"
        )
        raise Odd(must, {unclear}, {"decimal": likely or best.decimal})
    read = sum(n for text, n in counts.items() if best.read(text) is not None)
    return best.example if read > sum(counts.values()) / 2 else None


def _best_formats(texts: Iterable[str], unit: str) -> list[NumberFormat]:
    """Return the formats that read the most texts, one of those with equal numbers."""
    readings: dict[tuple[float | None, ...], NumberFormat] = {}
    for marks in _MARKS:
        form = NumberFormat(*marks, unit)
        readings.setdefault(tuple(map(form.read, texts)), form)
    counts = {values: len(values) - values.count(None) for values in readings}
    most = max(counts.values())
    return [readings[values] for values, count in counts.items() if count == most > 0]


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


def is_number(text: str) -> bool:
    """Return whether a text is a number, perhaps with a sign or with marks."""
    parts = _parts(text)
    return parts is not None and any(
        NumberFormat(*marks, parts[2]).read(text) is not None for marks in _MARKS
    )


def is_plain(text: str) -> bool:
    """Return whether a text is a number of digits, a point and an exponent."""
    return _PLAIN.fullmatch(text) is not None


def reads_as_number(text: str) -> bool:
    """Return whether `float` reads a text, which includes `inf` and `1_000`."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def are_codes(texts: Sequence[str]) -> bool:
    """Return whether texts are whole numbers, some of them with a leading zero."""
    stripped = [text.strip() for text in texts]
    return any(map(_CODE.fullmatch, stripped)) and all(
        text.isascii() and text.isdigit() for text in stripped
    )


def with_points(texts: Sequence[str], decimal: str) -> Sequence[str]:
    """Return the texts of a column, with decimal points in numbers.

    The texts are not changed if some have currency signs, % or marks between thousands.
    """
    mark = re.escape(decimal)
    number = re.compile(rf"([+-]?\d*){mark}(\d+(?:[eE][+-]?\d+)?)", re.ASCII)
    changed = [
        f"{found[1]}.{found[2]}" if (found := number.fullmatch(text)) else text
        for text in texts
    ]
    if any(map(_THOUSANDS.fullmatch, texts)) or any(
        is_number(old) and not is_plain(new)
        for old, new in zip(texts, changed, strict=True)
    ):
        return texts
    return changed
