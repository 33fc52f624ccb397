"""Text files with one row per line: commas, semicolons, tabs or blanks."""

import csv
import io
from collections.abc import Iterator, Sequence

from keras_vaf.datasets.parsers.table import Table, make_table, problem


def decode(content: bytes, file: str) -> str:
    """Return the text of a file in UTF-8, or name the first line that is not.

    Args:
        content: The bytes of the file.
        file: Name of the file, for error messages.

    Returns:
        The text, without a byte order mark.

    Raises:
        ValueError: If the bytes are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise problem(
            file,
            line,
            "expected text in UTF-8 (is the file compressed, a workbook, or saved in "
            f"another encoding?). Received: byte {content[error.start]:#04x}",
        ) from error


def read_text(
    content: bytes,
    file: str,
    separator: str | None = None,
    names: Sequence[str] | None = None,
) -> Table:
    """Read rows of text; empty lines are left out, and any line ends will do.

    Args:
        content: The bytes of the file.
        file: Name of the file, for error messages.
        separator: What stands between two cells; `None` for any run of blanks.
        names: Names of the columns; `None` if the first line holds them.

    Returns:
        The table.

    Raises:
        ValueError: If the file is not such a table.

    Example:

    >>> read_text(b"a,b\\r\\n1, 2\\r\\n", "two.csv", ",").rows
    [['1', '2']]
    """
    records = _records(decode(content, file), file, separator)
    if names is None:
        _, names = next(records, (1, None))
        if names is None:
            raise problem(file, 1, "expected the names of the columns. Received: none")
    return make_table(file, names, records)


def _records(
    text: str, file: str, separator: str | None
) -> Iterator[tuple[int, list[str]]]:
    lines = io.StringIO(text, newline=None)
    if separator is None:
        for number, line in enumerate(lines, start=1):
            if cells := line.split():
                yield number, cells
        return
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for cells in reader:
            if any(cell and not cell.isspace() for cell in cells):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise problem(
            file, reader.line_num, f"expected a row of cells. Received: {error}"
        ) from error
