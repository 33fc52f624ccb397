"""`markdown_table`, `readable` and `visible`, which return text to print."""

import unicodedata
from collections.abc import Sequence

# Controls, marks of the direction of text, surrogates, separators of lines.
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def markdown_table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], text_columns: int = 1
) -> str:
    """Return a table in Markdown, without a final line break.

    Args:
        columns: Titles of the columns.
        lines: The rows of the table, with one cell per column.
        text_columns: Number of columns on the left that contain text. All others
            contain numbers and are right-aligned.

    Example:

    >>> print(markdown_table(["activation", "error"], [["ReLU", "0.5"]]))
    | activation | error |
    | --- | ---: |
    | ReLU | 0.5 |
    """
    numbers = len(columns) - text_columns
    rule = ["---"] * text_columns + ["---:"] * numbers
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *lines))


def readable(number: float, sign: str = "") -> str:
    """Return a number with four digits, or all digits before the point if it has more.

    Args:
        number: The number.
        sign: `"+"` also writes the sign of a positive number.

    Example:

    >>> readable(75_489.6), readable(0.123456)
    ('75,490', '0.1235')
    """
    return f"{number:{sign}{',.0f' if abs(number) >= 1000 else '.4g'}}"


def visible(text: str) -> str:
    """Return a text whose control characters are escaped, except line breaks and tabs.

    Names from files may contain sequences that change the colours, the title or the
    content of a terminal.

    Example:

    >>> visible("red: \\x1b[31m")
    'red: \\\\x1b[31m'
    """
    return "".join(
        each
        if each in "\n\t" or unicodedata.category(each) not in _CONTROL
        else each.encode("unicode_escape").decode()
        for each in text
    )
