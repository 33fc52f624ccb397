"""Tables as Markdown text."""

from collections.abc import Sequence


def markdown_table(
    columns: Sequence[str], lines: Sequence[Sequence[str]], text_columns: int = 1
) -> str:
    """Return a table in Markdown, without a line break at its end.

    Args:
        columns: Titles of the columns.
        lines: The lines of the table, one cell per column.
        text_columns: Number of columns at the left that hold text. All others hold
            numbers and are aligned to the right.

    Example:

    >>> print(markdown_table(["activation", "error"], [["ReLU", "0.5"]]))
    | activation | error |
    | --- | ---: |
    | ReLU | 0.5 |
    """
    numbers = len(columns) - text_columns
    rule = ["---"] * text_columns + ["---:"] * numbers
    return "\n".join(f"| {' | '.join(row)} |" for row in (columns, rule, *lines))
