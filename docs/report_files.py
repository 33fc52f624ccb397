"""Tables of the committed reports, read and written."""

import re
from collections.abc import Sequence
from pathlib import Path

from keras_vaf.utils import markdown_table

REPORTS = Path(__file__).parent / "reports"

Row = dict[str, str]


def names_of(pattern: str) -> list[str]:
    """Return the reports whose paths below `docs/reports` match, shortest first."""
    found = (path.relative_to(REPORTS).as_posix() for path in REPORTS.glob(pattern))
    return sorted(found, key=lambda name: (len(name), name))


def text_of(report: str) -> str:
    """Return a report as text."""
    return (REPORTS / report).read_text(encoding="utf-8")


def rows_of(report: str, heading: str = "") -> list[Row]:
    """Return the first table below a heading of a report, a dictionary for each row.

    Args:
        report: Path below `docs/reports`.
        heading: How the heading begins; the first table of the report by default.

    Raises:
        ValueError: If the heading is missing or has no table below it.
    """
    text = text_of(report)
    start = re.search(rf"^#+ {re.escape(heading)}.*$", text, re.M) if heading else None
    if heading and start is None:
        raise ValueError(f"Expected a heading {heading!r} in {report}.")
    found = re.search(r"(?:^\|.*\|\n)+", text[start.end() if start else 0 :], re.M)
    if found is None:
        raise ValueError(f"Expected a table below {heading!r} in {report}.")
    names, _, *lines = (_cells(line) for line in found[0].splitlines())
    return [dict(zip(names, line, strict=True)) for line in lines]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def render(rows: Sequence[Row]) -> str:
    """Return rows as a table; the first column of numbers ends those of text."""
    lines = [list(row.values()) for row in rows]
    has_numbers = [any(map(_is_number, column)) for column in zip(*lines, strict=True)]
    text_columns = has_numbers.index(True) if True in has_numbers else len(has_numbers)
    return markdown_table(list(rows[0]), lines, text_columns)


def _is_number(cell: str) -> bool:
    return re.match(r"(< |[-+])?\d", cell) is not None
