"""`predicted_file`, which adds predictions to a file and copies the rest of it."""

import codecs
import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.networks import predict
from keras_vaf.datasets.tables.sources import BINARY
from keras_vaf.utils import require

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PARQUET = (".parquet", ".pq")
_WRITTEN = (*_PARQUET, ".xlsx")


class PredictedFile(NamedTuple):
    """A table with predictions.

    Attributes:
        content: Content of the file.
        rows: Number of rows.
        notes: Sentences about unknown categories and missing entries.
    """

    content: bytes
    rows: int
    notes: list[str]


def check_format(source: Path, output: Path) -> None:
    """Raise a `ValueError` if predictions cannot be written in a format.

    Args:
        source: Path of the table.
        output: Path of the table with the predictions.
    """
    kinds = [path.suffix.lower() for path in (source, output)]
    same = kinds[0] == kinds[1] or {*kinds} <= {*_PARQUET}
    if kinds[1] in BINARY and not (same and kinds[1] in _WRITTEN):
        raise ValueError(
            "The output must have the format of the table, if that is Parquet or xlsx, "
            "or be a CSV file. "
            f"Received: the output {output.name} for the table {source.name}"
        )


def predicted_file(
    model: keras.Model,
    source: Path,
    output: Path,
    sheet: str | int = 0,
    **options: Any,
) -> PredictedFile:
    """Return a table with the predictions of a network as additional columns.

    The cells of a text file are copied byte for byte. The additional cells have its
    separator, decimal mark and encoding. A Parquet file or a sheet keeps the values and
    types of its cells.

    Args:
        model: A network with a `TableEncoder`.
        source: Path of the table.
        output: Path of the result, whose extension selects the format.
        sheet: Name or number of an Excel sheet.
        **options: Format of a CSV file, and words for a missing entry.

    Raises:
        TableError: If columns cannot be used (see `predict_table`).
        ValueError: If the table or the output cannot be used.
    """
    check_format(source, output)
    table, columns, notes = predict(model, source, sheet, only_inputs=True, **options)
    if table.file is not None:
        content = _text_with(table.file, source.read_bytes(), columns)
    elif source.suffix.lower() in _PARQUET:
        content = _parquet_with(source, output, columns)
    else:
        content = _sheet_with(source, output, columns, sheet)
    return PredictedFile(content, len(table.frame), notes)


def _text_with(
    file: CsvFile, content: bytes, columns: Mapping[str, np.ndarray]
) -> bytes:
    """Return the content of a CSV file with additional cells in each row."""
    rows = iter(_new_cells(file, columns))
    copied, written = [], []
    for _, _, text, is_row in file.parts():
        end = len(text.rstrip("\r\n")) if is_row else len(text)
        copied.append(text)
        written += [text[:end], next(rows, "") if is_row else "", text[end:]]
    if next(rows, None) is not None:
        raise ValueError(
            f"{file.name}: expected a table whose rows can be told apart. Received: "
            "fewer rows than predictions"
        )
    return _encoded(file, content, "".join(copied), "".join(written))


def _new_cells(file: CsvFile, columns: Mapping[str, np.ndarray]) -> list[str]:
    """Return the text behind the header and behind each row."""
    texts = (map(_text_of(file.decimal), cells) for cells in columns.values())
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=file.separator, lineterminator="\n")
    found = []
    for row in (columns, *zip(*texts, strict=True)):
        writer.writerow(row)
        found.append(file.separator + buffer.getvalue()[:-1])
        buffer.seek(0)
        buffer.truncate()
    return found


def _text_of(decimal: str) -> Any:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else str(value).replace(".", decimal)

    return text


def _encoded(file: CsvFile, content: bytes, copied: str, written: str) -> bytes:
    """Return text in the encoding of a file, after its byte order mark.

    Args:
        file: The file.
        content: Content of the file.
        copied: Text of the file.
        written: The text to encode.
    """
    mark = next((each for each in _MARKS if content.startswith(each)), b"")
    for name in (file.encoding, "utf-8", "utf-16-le", "utf-16-be"):
        if mark + copied.encode(name, "replace") == content:
            try:
                return mark + written.encode(name)
            except UnicodeEncodeError as error:
                lacks = f"lacks the character {written[error.start]!r} of a prediction"
                raise ValueError(
                    f"{file.name}: the encoding {name} {lacks}. Save the table in "
                    "UTF-8 first."
                ) from error
    raise ValueError(
        f"{file.name}: the encoding {file.encoding} cannot write the table without "
        "changes. Save the table in UTF-8 first."
    )


def _parquet_with(
    source: Path, output: Path, columns: Mapping[str, np.ndarray]
) -> bytes:
    if output.suffix.lower() not in _PARQUET:
        pandas = require("pandas", extra="experiments")
        frame = pandas.read_parquet(source, dtype_backend="numpy_nullable")
        return frame.assign(**columns).to_csv(index=False).encode()
    pyarrow = require("pyarrow", extra="experiments")
    parquet = require("pyarrow.parquet", extra="experiments")
    table = parquet.read_table(source)
    for name, cells in columns.items():
        table = table.append_column(name, pyarrow.array(cells))
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _sheet_with(
    source: Path, output: Path, columns: Mapping[str, np.ndarray], sheet: str | int
) -> bytes:
    pandas = require("pandas", extra="experiments")
    with pandas.ExcelFile(source) as book:
        name = sheet if isinstance(sheet, str) else book.sheet_names[sheet]
        frame = pandas.read_excel(book, sheet_name=name, keep_default_na=False)
    frame = frame.assign(**columns)
    if output.suffix.lower() not in _WRITTEN:
        return frame.to_csv(index=False).encode()
    buffer = io.BytesIO()
    frame.to_excel(buffer, sheet_name=name, index=False)
    return buffer.getvalue()
