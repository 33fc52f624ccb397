"""`TableEncoder`, the first layer of a network that predicts rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.columns import Column, as_cells
from keras_vaf.datasets.tables.files import Table, listed, open_table
from keras_vaf.datasets.tables.formats import Odd
from keras_vaf.utils import check_number, check_numbers, did_you_mean


@keras.saving.register_keras_serializable("keras_vaf")
class TableEncoder(keras.layers.Layer):
    """Turn rows of a table into the inputs of a network.

    Networks saved by `keras-vaf compare` and `keras-vaf search` start with this layer.
    `encode` turns a table into an array of numbers with pandas. The layer then scales
    the numbers and one-hot encodes the categories, on every backend.

    Args:
        columns: The columns, as `Column` objects or as dictionaries of their arguments.
        fill: Value that replaces a missing entry, for each column.
        center: Value that is subtracted, for each column.
        spread: Divisor, for each column. A column with spread 0 becomes 0.
        kept: Numbers of the categories that get an output, for each column; empty for a
            column that is scaled. For any other category, all these outputs are 0.
        target: Name of the column that the network predicts.
        classes: Names of the classes; `None` for regression.
        **kwargs: Arguments of the layer, such as `name`.

    Input shape:
        `(batch_size, columns)`

    Output shape:
        `(batch_size, outputs)`, with one output for each column that is scaled and for
        each category that is kept.

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"dtype": "float32", "trainable": False, **kwargs})
        self.columns = tuple(
            Column(**each) if isinstance(each, Mapping) else each for each in columns
        )
        self.fill = check_numbers("fill", fill)
        self.center = check_numbers("center", center)
        self.spread = check_numbers("spread", spread)
        check_number("spread", min(self.spread, default=0), minimum=0)
        self.kept = tuple(tuple(map(int, each)) for each in kept)
        self.target = target
        self.classes = None if classes is None else tuple(classes)
        sizes = [len(each) for each in (columns, fill, center, spread, kept)]
        if len({*sizes}) > 1:
            raise ValueError(
                "`columns`, `fill`, `center`, `spread` and `kept` must have equal "
                f"lengths. Received: {sizes}"
            )
        self.input_spec = keras.layers.InputSpec(ndim=2, axes={-1: sizes[0]})
        # The column and the category of each output; NaN for a column that is scaled.
        pairs = [(n, c) for n, each in enumerate(self.kept) for c in each or (np.nan,)]
        self._source = np.array([place for place, _ in pairs], np.int32)
        self._code = np.array([code for _, code in pairs], np.float32)

    @classmethod
    def of(cls, dataset: Dataset, fitted: FittedPreprocessing) -> "TableEncoder":
        """Return the encoder that is equivalent to a fitted preprocessing."""
        scale = fitted.input_scale
        return cls(
            dataset.columns,
            scale.fill.tolist(),
            scale.center.tolist(),
            scale.spread.tolist(),
            [fitted.categories.get(n, ()) for n in range(len(dataset.columns))],
            dataset.target or "target",
            dataset.class_names,
        )

    def encode(self, table: Any, na: Sequence[str] = ()) -> np.ndarray:
        """Return rows of a table as an array of numbers, the input of the layer.

        Args:
            table: A dictionary from column names to sequences, or a pandas `DataFrame`,
                with the columns in any order. Other columns are ignored.
            na: Additional words that stand for a missing entry.

        Returns:
            A float32 array of shape `(rows, columns)`. A missing entry is NaN, a
            category is its index, and an unknown category is -1.

        Raises:
            TableError: If columns are missing, or if a cell is not a number, truth
                value or date, as its column requires.
        """
        table = table if isinstance(table, Table) else open_table(table)
        names, found, odd = [*table.frame], [], []
        for column in self.columns:
            if column.name not in names:
                odd.append(
                    f"column {column.name!r} is missing; add it, or rename one of the "
                    f"columns: {listed(names)}.{did_you_mean(column.name, names)}"
                )
                continue
            words, cells = (*column.na, *na), table.frame[column.name]
            cells = as_cells(cells, words, table.decimal, not column.format)
            try:
                found.append(column.read(cells, table.decimal))
            except Odd as problem:
                odd.append(table.sentence(cells, problem))
        if odd:
            raise table.refusal(odd)
        return np.stack(found, axis=1)

    def decode(self, outputs: Any) -> dict[str, np.ndarray]:
        """Return the outputs of the network by name.

        They are `predicted TARGET` in the units of the table for regression, and
        otherwise `predicted TARGET`, the name of the most probable class, and
        `probability of CLASS` for each class.
        """
        values, name = np.asarray(outputs), f"predicted {self.target}"
        if self.classes is None:
            return {name: values[:, 0]}
        names = [f"probability of {label}" for label in self.classes]
        best = np.array(self.classes, object)[values.argmax(axis=1)]
        return {name: best, **dict(zip(names, values.T, strict=True))}

    def call(self, inputs: Any) -> Any:
        """Return the scaled columns, and a 0 or 1 for each category."""
        spread = np.array(self.spread)
        factor = np.divide(1, spread, out=np.zeros(len(spread)), where=spread > 0)
        scale = np.array([self.fill, self.center, factor], np.float32)[:, self._source]
        fill, center, factor = map(ops.convert_to_tensor, scale)
        x = ops.take(inputs, self._source, axis=1)
        x = ops.where(ops.isnan(x), fill, x)
        equal = ops.cast(ops.equal(x, self._code), "float32")
        return ops.where(np.isnan(self._code), (x - center) * factor, equal)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the layer as JSON values."""
        names = ("fill", "center", "spread", "kept", "target", "classes")
        columns = [asdict(column) for column in self.columns]
        own = {name: getattr(self, name) for name in names}
        return {**super().get_config(), "columns": columns, **own}
