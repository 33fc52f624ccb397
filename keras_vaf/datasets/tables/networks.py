"""Networks that read tables: `with_encoder`, `predict_table` and `predicted_file`."""

import gzip
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.encoder import TableEncoder
from keras_vaf.datasets.tables.files import EXCEL, PARQUET, listed, open_table
from keras_vaf.utils import require

if TYPE_CHECKING:
    from pandas import DataFrame


def with_encoder(
    network: keras.Sequential, encoder: TableEncoder, fitted: FittedPreprocessing
) -> keras.Sequential:
    """Return a network that takes rows from `TableEncoder.encode`.

    Its outputs are probabilities of classes, or the target in the units of the table.
    Those of `network` are logits, or the target that `fitted` scales.
    """
    *body, last = network.layers
    classes = encoder.classes is not None
    head = keras.layers.Dense(last.units, "softmax" if classes else None)
    inputs = keras.Input((len(encoder.columns),))
    model = keras.Sequential([inputs, encoder, *body, head])
    kernel, bias = last.get_weights()
    if (target := fitted.target_scale) is not None:
        kernel, bias = kernel * target.spread, bias * target.spread + target.center
    head.set_weights([kernel, bias])
    return model


def encoder_of(model: keras.Model) -> TableEncoder:
    """Return the encoder of a model, or raise a `ValueError` if it has none."""
    for layer in model.layers if isinstance(model, keras.Model) else ():
        if isinstance(layer, TableEncoder):
            return layer
    raise ValueError(
        "The model must contain a TableEncoder, as the models do that "
        "`keras-vaf compare` and `keras-vaf search` save. "
        f"Received: {getattr(model, 'name', model)!r} without one"
    )


def predict_table(
    model: keras.Model,
    source: "str | os.PathLike[str] | DataFrame",
    *,
    na: Sequence[str] = (),
    **options: Any,
) -> "DataFrame":
    """Return a table with the predictions of a network as additional columns.

    Args:
        model: A network with a `TableEncoder`, such as the `best.keras` of `keras-vaf
            compare`.
        source: A table with the columns on which the network was trained, in any order,
            and perhaps others: a pandas `DataFrame`, or a path as in `read_table`.
        na: Additional words that stand for a missing entry.
        **options: `separator`, `decimal`, `encoding`, `sheet` and `header`, as in
            `read_table`.

    Returns:
        The table, whose cells are text if it is a CSV file, with additional columns:
        `predicted TARGET`, the class or the number in the units of the target, and for
        classification `probability of CLASS`. `DataFrame.attrs["notes"]` lists unknown
        categories and missing entries.

    Raises:
        TableError: If columns are missing, or if a column has cells that it cannot
            use. The message lists all such columns.
        ValueError: If the model has no `TableEncoder`, if the table has no rows, or if
            it has a column with the name of an additional one.

    Example:

    >>> import pandas
    >>> encoder = TableEncoder([Column("a")], [0], [0], [1], [()], target="price")
    >>> model = keras.Sequential([keras.Input((1,)), encoder])
    >>> predict_table(model, pandas.DataFrame({"a": [1.5, 2.5]}))["predicted price"]
    0    1.5
    1    2.5
    Name: predicted price, dtype: float32
    """
    encoder, table = encoder_of(model), open_table(source, **options)
    notes: list[str] = []
    x = encoder.encode(table, na=na, notes=notes)
    if not len(x):
        raise ValueError("Expected at least one row to predict. Received: none")
    columns = encoder.decode(model.predict(x, batch_size=1024, verbose=0))
    if present := [each for each in columns if each in table.columns]:
        raise ValueError(
            f"{table.name} already has a column for the prediction. Rename it or "
            f"remove it. Received: {listed(present)}"
        )
    cells = {
        name: getattr(cells, "to_pandas", lambda cells=cells: cells)()
        for name, cells in table.columns.items()
    }
    frame = require("pandas", extra="experiments").DataFrame(cells).assign(**columns)
    form = table.separator or ",", table.decimal or ".", table.encoding or "utf-8"
    frame.attrs = {"notes": notes, "format": form}
    return frame


def predicted_file(
    model: keras.Model, source: Path, output: Path, **options: Any
) -> tuple[bytes, "DataFrame"]:
    """Return the content of the file `output`, and the table of `predict_table`.

    Each cell of a CSV file is written as it was read, and the predictions with the
    separator, the decimal mark and the encoding of the file.
    """
    old, new = source.suffix.lower(), output.suffix.lower()
    if new in (*PARQUET, *EXCEL) and old != new and not {old, new} <= {*PARQUET}:
        raise ValueError(
            "The output must be a CSV file, or have the format of the table. "
            f"Received: the output {output.name} for the table {source.name}"
        )
    frame, buffer = predict_table(model, source, **options), io.BytesIO()
    if new in EXCEL:
        frame.to_excel(buffer, index=False)
    elif new in PARQUET:
        parquet = require("pyarrow.parquet", extra="experiments")
        found = parquet.read_table(source)
        for name in [name for name in frame if name not in {*found.column_names}]:
            found = found.append_column(name, [frame[name]])
        parquet.write_table(found, buffer)
    else:
        separator, decimal, encoding = frame.attrs["format"]
        text = frame.to_csv(index=False, sep=separator, decimal=decimal)
        try:
            content = text.encode(encoding)
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{source.name}: the encoding {encoding} lacks the character "
                f"{text[error.start]!r} of a prediction. Save the table in UTF-8 first."
            ) from error
        buffer.write(gzip.compress(content) if new == ".gz" else content)
    return buffer.getvalue(), frame
