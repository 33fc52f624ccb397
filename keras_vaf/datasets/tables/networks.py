"""Networks that read tables: `with_encoder`, `predict_table` and `predicted_file`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.columns import UNKNOWN
from keras_vaf.datasets.tables.encoder import TableEncoder
from keras_vaf.datasets.tables.files import EXCEL, PARQUET, Table, listed, open_table
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
    activation = None if encoder.classes is None else "softmax"
    head = keras.layers.Dense(last.units, activation)
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
        source: A pandas `DataFrame`, or a path as in `read_table`, with the columns of
            the training table in any order, and perhaps others.
        na: Additional words that stand for a missing entry.
        **options: `separator`, `decimal`, `encoding`, `sheet` and `header`, as in
            `read_table`.

    Returns:
        The table, whose cells are text if it is a CSV file, with the columns of
        `TableEncoder.decode`. `DataFrame.attrs["notes"]` counts unknown categories and
        missing entries.

    Raises:
        TableError: If columns are missing, or have cells that cannot be used.
        ValueError: If the model has no `TableEncoder`, if the table has no rows, or if
            it already has a column of that name.

    Example:

    >>> import pandas
    >>> encoder = TableEncoder([Column("a")], [0], [0], [1], [()], target="price")
    >>> model = keras.Sequential([keras.Input((1,)), encoder])
    >>> predict_table(model, pandas.DataFrame({"a": [1.5, 2.5]}))["predicted price"]
    0    1.5
    1    2.5
    Name: predicted price, dtype: float32
    """
    return _predicted(model, open_table(source, **options), na)


def predicted_file(
    model: keras.Model, source: Path, output: Path, na: Sequence[str], **options: Any
) -> "DataFrame":
    """Write the table of `predict_table` to a file, and return it.

    Each cell of a CSV file is written as it was read, and the predictions with the
    separator, the decimal mark and the encoding of the file.
    """
    table = open_table(source, **options)
    frame, suffix = _predicted(model, table, na), output.suffix.lower()
    if suffix in EXCEL:
        frame.to_excel(output, index=False)
    elif suffix in PARQUET and source.suffix.lower() in PARQUET:
        parquet = require("pyarrow.parquet", extra="experiments")
        found = parquet.read_table(source)  # with types that pandas may not have
        for name in frame.columns.difference(table.frame.columns, sort=False):
            found = found.append_column(name, [frame[name]])
        parquet.write_table(found, output)
    elif suffix in PARQUET:
        frame.to_parquet(output)
    else:
        form = {"sep": table.separator or ",", "decimal": table.decimal}
        frame.to_csv(output, index=False, encoding=table.encoding or None, **form)
    return frame


def _predicted(model: keras.Model, table: Table, na: Sequence[str]) -> "DataFrame":
    encoder = encoder_of(model)
    x = encoder.encode(table, na)
    if not len(x):
        raise ValueError("Expected at least one row to predict. Received: none")
    columns = encoder.decode(model.predict(x, batch_size=1024, verbose=0))
    if present := [each for each in columns if each in table.frame]:
        raise ValueError(
            f"{table.name} already has a column for the prediction. Rename it or "
            f"remove it. Received: {listed(present)}"
        )
    notes, filled = [], "the mean, or the most frequent category, of the training rows"
    for column, values in zip(encoder.columns, x.T, strict=True):
        unknown = (values == UNKNOWN) & (column.kind == "category")
        for found, text in (
            (unknown, "categories that the training rows did not have"),
            (np.isnan(values), f"missing. They are filled in by {filled}"),
        ):
            if found.any():
                count = f"{found.sum():,} of {len(x):,} entries"
                notes.append(f"Column {column.name!r}: {count} are {text}.")
    frame = table.frame.assign(**columns)
    frame.attrs["notes"] = notes
    return frame
