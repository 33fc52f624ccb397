"""`TableEncoder`, the first layer of networks that read tables, and `predict_table`."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
from keras import ops

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.columns import UNKNOWN, Column
from keras_vaf.datasets.tables.files import Table, listed, open_table
from keras_vaf.utils import atomic_path, check_numbers

if TYPE_CHECKING:
    from pandas import DataFrame


@keras.saving.register_keras_serializable("keras_vaf")
class TableEncoder(keras.layers.Layer):
    """Turn rows of a table into the inputs of a network.

    It is the first layer of a best.keras. `encode` turns a table into numbers, which
    the layer scales, or one-hot encodes if they stand for categories.

    Args:
        columns: The columns, as `Column` objects or as dictionaries of their arguments.
        fill: Value that replaces a missing entry, for each column.
        center: Value that is subtracted, for each column.
        spread: Divisor, for each column. A column with spread 0 becomes 0.
        kept: Numbers of the categories that get an output, for each column. Any other
            category is 0 in all of them. A column with an empty tuple is scaled.
        target: Name of the column that the network predicts.
        classes: Names of the classes; `None` for regression.
        offset: Number that `decode` adds to the outputs of a regression, as float64.
        **kwargs: Arguments of the layer, such as `name`.

    Input shape:
        `(batch_size, columns)`

    Output shape:
        `(batch_size, columns that are scaled + categories that are kept)`

    Raises:
        ValueError: If an argument has not one finite value for each column.

    Example:

    >>> columns = [Column("age"), Column("size", "category", ("L", "S"))]
    >>> encoder = TableEncoder(columns, [40, 0], [40, 0], [10, 1], [(), (0, 1)])
    >>> x = encoder.encode({"size": ["S", "XL"], "age": [50, None]})
    >>> keras.ops.convert_to_numpy(encoder(x)).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        columns: Sequence[Column | Mapping[str, Any]],
        fill: Sequence[float],
        center: Sequence[float],
        spread: Sequence[float],
        kept: Sequence[Sequence[int]],
        target: str = "target",
        classes: Sequence[str] | None = None,
        offset: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"dtype": "float32", "trainable": False, **kwargs})
        self.columns = tuple(
            each if isinstance(each, Column) else Column(**each) for each in columns
        )
        self.fill = check_numbers("fill", fill)
        self.center = check_numbers("center", center)
        self.spread = check_numbers("spread", spread)
        self.kept = tuple(tuple(map(int, each)) for each in kept)
        self.target = target
        self.classes = None if classes is None else tuple(classes)
        [self.offset] = check_numbers("offset", [offset])
        sizes = [len(each) for each in (columns, fill, center, spread, kept)]
        if len({*sizes}) > 1:
            raise ValueError(
                "`columns`, `fill`, `center`, `spread` and `kept` must have equal "
                f"lengths. Received: {sizes}"
            )
        self.input_spec = keras.layers.InputSpec(ndim=2, axes={-1: sizes[0]})

    @classmethod
    def of(cls, dataset: Dataset, fitted: FittedPreprocessing) -> "TableEncoder":
        """Return the encoder that is equivalent to a fitted preprocessing."""
        kept = [fitted.categories.get(n, ()) for n in range(len(dataset.columns))]
        scale, target = fitted.input_scale, fitted.target_scale
        arrays = scale.fill, scale.center, scale.spread
        fill, center, spread = (array.tolist() for array in arrays)
        wide = dataset.y.dtype == np.float64
        offset = float(target.center[0]) if target is not None and wide else 0.0
        form = dataset.columns, fill, center, spread, kept
        return cls(*form, dataset.target or "target", dataset.class_names, offset)

    def encode(self, table: Any, na: Sequence[str] = ()) -> np.ndarray:
        """Return rows of a table as float32 numbers, the input of the layer.

        A missing entry is NaN, a category is its index, and an unknown category is -1.
        The columns of `table`, a pandas `DataFrame` or a dictionary, may have any
        order. `na` are additional words that stand for a missing entry.

        Raises:
            TableError: If columns are missing, or have cells that cannot be used.
        """
        table = table if isinstance(table, Table) else open_table(table)
        x = table.each(lambda each: each.read(*table.cells(each, na)), self.columns)
        return np.array(x, np.float32).T

    def decode(self, outputs: Any) -> dict[str, np.ndarray]:
        """Return `predicted TARGET`, and for classes `probability of CLASS` of each."""
        values, name = np.asarray(outputs), f"predicted {self.target}"
        if self.classes is None:
            return {name: values[:, 0] + (self.offset and np.float64(self.offset))}
        names = [f"probability of {label}" for label in self.classes]
        best = np.array(self.classes, object)[values.argmax(axis=1)]
        return {name: best, **dict(zip(names, values.T, strict=True))}

    def call(self, inputs: Any) -> Any:
        """Return the scaled columns, and a 0 or 1 for each category."""
        # The column and the category of each output; NaN for a column that is scaled.
        pairs = [(n, c) for n, each in enumerate(self.kept) for c in each or (np.nan,)]
        source, code = np.array(pairs, np.float32).T
        factor = [1 / spread if spread > 0 else 0 for spread in self.spread]
        center = np.array(self.center, np.float32).astype(float)
        rest = (center - self.center) * factor  # of the centre that float32 rounds
        filled = (np.array(self.fill) - self.center) * factor
        scale = np.array([self.fill, center, factor, rest, filled], np.float32)
        place = source.astype(np.int32)
        fill, center, *others = map(ops.convert_to_tensor, scale[:, place])
        x = ops.take(inputs, place, axis=1)
        missing, (factor, rest, filled) = ops.isnan(x), others
        equal = ops.cast(ops.equal(ops.where(missing, fill, x), code), "float32")
        scaled = ops.where(missing, filled, (x - center) * factor + rest)
        return ops.where(np.isnan(code), scaled, equal)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the layer as JSON values."""
        names = ("fill", "center", "spread", "kept", "target", "classes", "offset")
        own = {name: getattr(self, name) for name in names}
        return {**super().get_config(), "columns": [*map(asdict, self.columns)], **own}


def with_encoder(
    network: keras.Sequential, encoder: TableEncoder, fitted: FittedPreprocessing
) -> keras.Sequential:
    """Return a network from encoded rows to probabilities, or to the target's units."""
    *body, last = network.layers
    head = keras.layers.Dense(last.units, encoder.classes and "softmax")
    inputs = keras.Input((len(encoder.columns),))
    model = keras.Sequential([inputs, encoder, *body, head])
    kernel, bias = last.get_weights()
    if (target := fitted.target_scale) is not None:
        bias = bias * target.spread + target.center - encoder.offset
        kernel = kernel * target.spread
    head.set_weights([kernel, bias])
    return model


def predict_table(
    model: keras.Model,
    source: "str | os.PathLike[str] | DataFrame",
    *,
    na: Sequence[str] = (),
    output: str | os.PathLike[str] | None = None,
    **options: Any,
) -> "DataFrame":
    """Return a table with the columns of `TableEncoder.decode` after its own.

    The cells of a CSV file are text. `DataFrame.attrs["notes"]` counts unknown
    categories and missing entries.

    Args:
        model: A network with a `TableEncoder`, such as a `best.keras`.
        source: A pandas `DataFrame`, or a path, with the columns of the training table.
        na: Additional words that stand for a missing entry.
        output: Path of a file for the table: Parquet, `.xlsx`, or CSV text with the
            separator, the decimal mark and the encoding of the source.
        **options: Arguments of `read_table` for a file.

    Raises:
        TableError: If columns are missing, or have cells that cannot be used.
        ValueError: If the model has no encoder, or if the table has such a column.

    Example:

    >>> import pandas
    >>> encoder = TableEncoder([Column("a")], [0], [0], [1], [()], target="price")
    >>> model = keras.Sequential([keras.Input((1,)), encoder])
    >>> predict_table(model, pandas.DataFrame({"a": [1.5, 2.5]}))["predicted price"]
    0    1.5
    1    2.5
    Name: predicted price, dtype: float32
    """
    layers = model.layers if isinstance(model, keras.Model) else ()
    encoder = next((each for each in layers if isinstance(each, TableEncoder)), None)
    if encoder is None:
        raise ValueError(
            "The model must contain a TableEncoder, as models of `keras-vaf compare` "
            f"and `keras-vaf search` do. Received: {getattr(model, 'name', model)!r}"
        )
    table = open_table(source, **options)
    x = encoder.encode(table, na)
    columns = encoder.decode(model.predict(x, batch_size=1024, verbose=0))
    if present := [each for each in columns if each in table.frame]:
        raise ValueError(
            f"{table.name} already has a column for the prediction. Rename it or "
            f"remove it. Received: {listed(present)}"
        )
    frame = table.frame.assign(**columns)
    frame.attrs["notes"] = notes = []
    for column, values in zip(encoder.columns, x.T, strict=True):
        missing = np.isnan(values).sum()
        unknown = (column.kind == "category") * (values == UNKNOWN).sum()
        counts = f"{missing:,} missing entries (filled in as in training), {unknown:,}"
        if missing or unknown:
            rows = f"Column {column.name!r}, {len(x):,} rows"
            notes.append(f"{rows}: {counts} unknown categories.")
    if output is not None:
        with atomic_path(output) as temporary:
            table.write(frame, temporary)
    return frame
