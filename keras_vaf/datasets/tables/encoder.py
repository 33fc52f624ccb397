"""`TableEncoder`, the first layer of a network that predicts rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.preprocessing import FittedPreprocessing
from keras_vaf.datasets.tables.column import UNKNOWN, Column
from keras_vaf.datasets.tables.frames import encode_rows
from keras_vaf.datasets.tables.sources import Table
from keras_vaf.utils import check_number, check_numbers


@keras.saving.register_keras_serializable("keras_vaf")
class TableEncoder(keras.layers.Layer):
    """Turn rows of a table into the inputs of a network.

    Networks saved by `keras-vaf compare` and `keras-vaf search` start with this layer.
    The file of the network therefore contains everything that is needed to predict new
    rows: names and kinds of the columns, categories, scales and classes. No other file,
    pickle or custom code is needed.

    `encode` turns a table into an array of numbers with NumPy. The layer then scales
    the numbers and one-hot encodes the categories, on every backend.

    Args:
        columns: The columns, as `Column` objects or as dictionaries of their arguments.
        fill: Value that replaces a missing entry, for each column.
        center: Value that is subtracted, for each column.
        spread: Divisor, for each column. A column with spread 0 becomes 0.
        kept: Indices of the categories that get an output, for each column; empty for a
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
        ValueError: If an argument does not have one value for each column, or if a
            number is not finite, or if a spread is negative.

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
        self.columns = tuple(map(_column, columns))
        self.fill = check_numbers("fill", fill)
        self.center = check_numbers("center", center)
        self.spread = check_numbers("spread", spread)
        check_number("spread", min(self.spread, default=0), minimum=0)
        self.kept = tuple(tuple(map(int, each)) for each in kept)
        self.target = target
        self.classes = None if classes is None else tuple(classes)
        for name in ("fill", "center", "spread", "kept"):
            if len(getattr(self, name)) != len(self.columns):
                raise ValueError(
                    f"`{name}` must have one value for each of the "
                    f"{len(self.columns)} columns. "
                    f"Received: {len(getattr(self, name))} values"
                )
        self.input_spec = keras.layers.InputSpec(ndim=2, axes={-1: len(self.columns)})
        self._make_outputs()

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

    def encode(self, table: Any) -> np.ndarray:
        """Return rows of a table as an array of numbers, the input of the layer.

        Args:
            table: A dictionary from column names to sequences, or a pandas `DataFrame`,
                with the columns in any order. Other columns are ignored.

        Returns:
            A float32 array of shape `(rows, columns)`, with the columns in the order of
            `columns`. A missing entry is NaN, a category is its index, and an unknown
            category is -1.

        Raises:
            TableError: If columns are missing, or if a cell is not a number, truth
                value or date, as its column requires. The message lists all such
                columns.
            ValueError: If the columns have different numbers of rows.
        """
        return encode_rows(self.columns, Table(table))

    def unknown(self, x: np.ndarray) -> dict[str, int]:
        """Count the cells of unknown categories.

        Args:
            x: Rows from `encode`.

        Returns:
            The number of such cells by column name, for columns that have any.
        """
        counts = (x == UNKNOWN).sum(axis=0).tolist()
        return {
            column.name: count
            for column, count in zip(self.columns, counts, strict=True)
            if count and column.kind == "category"
        }

    def decode(self, outputs: Any) -> dict[str, np.ndarray]:
        """Return the outputs of the network by name.

        Args:
            outputs: Outputs of the network, with one row per row of the table.

        Returns:
            For regression, `predicted TARGET` in the units of the table. For
            classification, `predicted TARGET`, the name of the most probable class, and
            `probability of CLASS` for each class.
        """
        values, name = np.asarray(outputs), f"predicted {self.target}"
        if self.classes is None:
            return {name: values[:, 0]}
        best = np.array(self.classes, object)[values.argmax(axis=1)]
        probabilities = {
            f"probability of {label}": values[:, place]
            for place, label in enumerate(self.classes)
        }
        return {name: best, **probabilities}

    def call(self, inputs: Any) -> Any:
        """Return the scaled columns, and a 0 or 1 for each category."""
        source, fill, center, factor, code, is_category = map(
            ops.convert_to_tensor, self._outputs
        )
        x = ops.take(inputs, source, axis=1)
        x = ops.where(ops.isnan(x), fill, x)
        scaled = (x - center) * factor
        equal = ops.cast(ops.equal(x, code), scaled.dtype)
        return ops.where(is_category, equal, scaled)

    def compute_output_shape(
        self, input_shape: tuple[int | None, ...]
    ) -> tuple[int | None, ...]:
        """Return the shape of the outputs."""
        return (*input_shape[:-1], len(self._outputs[0]))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the layer as JSON values."""
        return {
            **super().get_config(),
            "columns": [asdict(column) for column in self.columns],
            "fill": self.fill,
            "center": self.center,
            "spread": self.spread,
            "kept": self.kept,
            "target": self.target,
            "classes": self.classes,
        }

    def _make_outputs(self) -> None:
        """Compute the column and the operation of each output."""
        source: list[int] = []
        codes: list[float] = []
        for place, kept in enumerate(self.kept):
            source += [place] * (len(kept) or 1)
            codes += kept or (np.nan,)
        spread = np.array(self.spread)[source]
        factor = np.divide(1, spread, out=np.zeros(len(source)), where=spread > 0)
        code = np.array(codes, np.float32)
        self._outputs = (
            np.array(source, np.int32),
            np.array(self.fill, np.float32)[source],
            np.array(self.center, np.float32)[source],
            factor.astype(np.float32),
            code,
            ~np.isnan(code),
        )


def _column(column: Column | Mapping[str, Any]) -> Column:
    if isinstance(column, Column):
        return column
    lists = {name: tuple(column.get(name, ())) for name in ("names", "na")}
    return Column(**{**column, **lists})
