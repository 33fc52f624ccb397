"""ARFF, the format of WEKA."""

import io
import re

from keras_vaf.datasets.parsers.table import Table, make_table, problem
from keras_vaf.datasets.parsers.text import decode

_ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+\S""", re.IGNORECASE)


def read_arff(content: bytes, file: str) -> Table:
    """Read an ARFF file whose values are separated by commas, blanks or both.

    Args:
        content: The bytes of the file.
        file: Name of the file, for error messages.

    Returns:
        The table; what the header says of the values is left to the caller.

    Raises:
        ValueError: If the file is not such a table.

    Example:

    >>> read_arff(b"@attribute a real\\n@data\\n1.5\\n", "one.arff").rows
    [['1.5']]
    """
    lines = enumerate(io.StringIO(decode(content, file), newline=None), start=1)
    names: list[str] = []
    for number, line in lines:
        keyword = line.strip().lower()
        if keyword == "@data":
            break
        if keyword.startswith("@attribute"):
            attribute = _ATTRIBUTE.match(line.strip())
            if attribute is None:
                raise problem(
                    file,
                    number,
                    "expected '@attribute', a name and a type. "
                    f"Received: {line.strip()!r}",
                )
            names.append(attribute[1].strip("'\""))
    else:
        raise problem(file, 1, "expected an ARFF file. Received: no line '@data'")
    rows = ((number, line.replace(",", " ").split()) for number, line in lines)
    records = ((number, row) for number, row in rows if row and row[0][0] != "%")
    return make_table(file, names, records)
