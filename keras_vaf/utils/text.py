"""`markdown_table`, `readable`, `visible` and other results to print or write."""

import hashlib
import io
import math
import statistics
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

# Controls, marks of the direction of text, surrogates, separators of lines.
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def markdown_table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], text_columns: int = 1
) -> str:
    """Return a table in Markdown whose columns after the first ones hold numbers."""
    numbers = len(columns) - text_columns
    rule = ["---"] * text_columns + ["---:"] * numbers
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *lines))


def readable(number: float, sign: str = "") -> str:
    """Return a number with four digits, or with all digits before the point.

    >>> readable(75_489.6), readable(0.123456)
    ('75,490', '0.1235')
    """
    return f"{number:{sign}{',.0f' if abs(number) >= 1000 else '.4g'}}"


def visible(text: str) -> str:
    """Return a text whose control characters are escaped, except line breaks and tabs.

    Names from files may change the colours, the title or the content of a terminal.
    """
    return "".join(
        each
        if each in "\n\t" or unicodedata.category(each) not in _CONTROL
        else each.encode("unicode_escape").decode()
        for each in text
    )


def deviation(values: Sequence[float]) -> float:
    """Return the sample standard deviation: 0 of one value, NaN if one is infinite."""
    if not all(map(math.isfinite, values)):
        return math.nan
    return statistics.stdev(values) if len(values) > 1 else 0.0


def checksum(data: Any) -> str:
    """Return a hash of the types, shapes and values of arrays."""
    import keras  # It loads its backend.

    digest = hashlib.sha256()
    for array in keras.tree.flatten(data):
        digest.update(f"{array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).data)
    return digest.hexdigest()


def png_bytes(figure: Any, **options: Any) -> bytes:
    """Return a Matplotlib figure as PNG, with other arguments of `savefig`."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", **options)
    return stream.getvalue()
