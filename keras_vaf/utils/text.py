"""`markdown_table`, which returns a table as Markdown text."""

from collections.abc import Sequence


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
