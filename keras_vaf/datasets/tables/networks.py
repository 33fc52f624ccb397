"""`with_encoder`, which lets a network read a table, and `predict_table`."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import keras
import numpy as np

from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.encoder import TableEncoder
from keras_vaf.datasets.tables.frames import encode_rows
from keras_vaf.datasets.tables.problems import listed
from keras_vaf.datasets.tables.sources import Table, open_table

if TYPE_CHECKING:
    from pandas import DataFrame


def with_encoder(
    network: keras.Sequential, encoder: TableEncoder, fitted: FittedPreprocessing
) -> keras.Sequential:
    """Return a trained network that takes rows from `TableEncoder.encode`.

    Args:
        network: A network of preprocessed inputs. Its last layer is dense, and its
            outputs are the logits of classes or a scaled target.
        encoder: Layer that does the preprocessing.
        fitted: The preprocessing, for the scale of the target.

    Returns:
        A network with the same trained layers. Its outputs are the probabilities of
        the classes, or the target in the units of the table.
    """
    *body, last = network.layers
    classes = encoder.classes is not None
    head = keras.layers.Dense(last.units, "softmax" if classes else None)
    inputs = keras.Input((len(encoder.columns),))
    model = keras.Sequential([inputs, encoder, *body, head])
    kernel, bias = last.get_weights()
    target = fitted.target_scale
    if target is not None:
        kernel = kernel * target.spread
        bias = bias * target.spread + target.center
    head.set_weights([kernel, bias])
    return model


def encoder_of(model: keras.Model) -> TableEncoder:
    """Return the encoder of a model.

    Args:
        model: A model whose first layer is a `TableEncoder`.

    Raises:
        ValueError: If the model has none.
    """
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
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
    sheet: str | int = 0,
) -> "DataFrame":
    """Return a table with the predictions of a network as additional columns.

    Args:
        model: A network with a `TableEncoder`, such as the `best.keras` of `keras-vaf
            compare`.
        source: A pandas `DataFrame`, or the path of a table, as in `read_table`. It
            must have the columns on which the network was trained, in any order, and
            may have others.
        separator: As in `read_table`.
        decimal: As in `read_table`.
        encoding: As in `read_table`.
        na: Additional words that stand for a missing entry, besides those of the
            training table.
        sheet: As in `read_table`.

    Returns:
        The table with additional columns: `predicted TARGET`, the class or the number
        in the units of the target, and for classification `probability of CLASS`.
        `DataFrame.attrs["notes"]` lists unknown categories and missing entries.

    Raises:
        TableError: If columns are missing, or if a column has cells that it cannot
            use. The message lists all such columns.
        ValueError: If the model has no `TableEncoder`, if the table has no rows, or if
            it has a column with the name of an additional one.
        FileNotFoundError: If the file does not exist.
        ImportError: If pandas is not installed.

    Example:

    >>> import pandas
    >>> encoder = TableEncoder([Column("a")], [0], [0], [1], [()], target="price")
    >>> model = keras.Sequential([keras.Input((1,)), encoder])
    >>> predict_table(model, pandas.DataFrame({"a": [1.5, 2.5]}))["predicted price"]
    0    1.5
    1    2.5
    Name: predicted price, dtype: float32
    """
    table, columns, notes = predict(
        *(model, source, sheet, decimal, na), separator=separator, encoding=encoding
    )
    predicted = table.frame.assign(**columns)
    predicted.attrs["notes"] = notes
    return predicted


class Predictions(NamedTuple):
    """A table, its additional columns, and sentences about cells that are not known."""

    table: Table
    columns: dict[str, np.ndarray]
    notes: list[str]


def predict(
    model: keras.Model,
    source: "str | os.PathLike[str] | DataFrame",
    sheet: str | int = 0,
    decimal: str | None = None,
    na: Sequence[str] = (),
    only_inputs: bool = False,
    **options: str | None,
) -> Predictions:
    """Return the predictions of a network for the rows of a table.

    Args:
        model: A network with a `TableEncoder`.
        source, sheet, decimal, na: As in `predict_table`.
        only_inputs: Whether to read only the inputs of the network from a CSV file.
        **options: Other arguments of `predict_table`.

    Raises:
        ValueError: If the model or the table cannot be used (see `predict_table`).
    """
    encoder = encoder_of(model)
    # All but plain numbers are read as text.
    plain = {c.name for c in encoder.columns if c.kind == "number" and not c.format}
    only = [column.name for column in encoder.columns] if only_inputs else None
    table = open_table(
        source,
        lambda file: file.read_frame({*file.columns} - plain, only),
        {},
        sheet,
        decimal,
        na,
        **options,
    )
    unread: list[str] = []
    x = encode_rows(encoder.columns, table, unread)
    if not len(x):
        raise ValueError("Expected at least one row to predict. Received: none")
    columns = encoder.decode(model.predict(x, batch_size=1024, verbose=0))
    if present := [each for each in columns if each in table.names]:
        raise ValueError(
            f"{table.name} already has a column for the prediction. Rename it or "
            f"remove it. Received: {listed(present)}"
        )
    return Predictions(table, columns, [*unread, *_notes(encoder, x)])


def _notes(encoder: TableEncoder, x: np.ndarray) -> list[str]:
    notes = [
        f"Column {name!r}: {count:,} of {len(x):,} cells are categories that the "
        "training rows did not have. They count as unknown."
        for name, count in encoder.unknown(x).items()
    ]
    for column, count in zip(encoder.columns, np.isnan(x).sum(axis=0), strict=True):
        if count:
            notes.append(
                f"Column {column.name!r}: {count:,} of {len(x):,} entries are missing. "
                "They are filled in by the mean, or the most frequent category, of the "
                "training rows."
            )
    return notes
