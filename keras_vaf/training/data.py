"""`to_arrays` and other preparations of the data of a training."""

from typing import Any

import keras
import numpy as np
from keras import ops


def to_arrays(name: str, data: Any) -> tuple[Any, ...]:
    """Turn inputs, targets and perhaps weights into NumPy arrays of equal length.

    They are arrays, or lists or dictionaries of arrays. Floating-point arrays get the
    dtype `keras.config.floatx()`. Errors say the `name` of the data.
    """
    if not isinstance(data, tuple | list) or len(data) not in (2, 3):
        raise ValueError(
            f"{name} must be a pair, inputs and targets, or a triple with weights. "
            f"Received: {type(data).__name__}"
        )
    arrays = keras.tree.map_structure(ops.convert_to_numpy, tuple(data))
    leaves = keras.tree.flatten(arrays)
    if any(array.dtype.kind not in "fiub" for array in leaves):
        dtypes = ", ".join(str(array.dtype) for array in leaves)
        raise ValueError(
            f"{name} must be arrays of numbers. Received: arrays of dtype {dtypes}"
        )
    shapes = [array.shape for array in leaves]
    if len({shape[:1] for shape in shapes}) != 1 or shapes[0][:1] in ((), (0,)):
        raise ValueError(
            f"{name} must be arrays with the same number of rows, at least one. "
            f"Received: arrays of shapes {', '.join(map(str, shapes)):.200}"
        )
    return keras.tree.map_structure(_in_floatx, arrays)


def _in_floatx(array: np.ndarray) -> np.ndarray:
    return array.astype(keras.config.floatx()) if array.dtype.kind == "f" else array


def number_of_rows(data: Any) -> int:
    """Return the number of rows of data from `to_arrays`."""
    return len(keras.tree.flatten(data)[0])


def order_of_rows(
    rows: int, batch_size: int | None, seed: int, epoch: int
) -> np.ndarray:
    """Return the order in which an epoch uses the rows; a single batch has no shuffle.

    NumPy draws the order, so that every backend uses the same batches.
    """
    if batch_size is None or batch_size >= rows:
        return np.arange(rows)
    return np.random.default_rng([seed, epoch]).permutation(rows)


def take(data: Any, rows: Any) -> Any:
    """Return some rows of each array."""
    return keras.tree.map_structure(lambda array: array[rows], data)


def make_variables(model: keras.Model, data: Any) -> None:
    """Let a model see data, so that Keras makes all its variables and metrics."""
    x, y, *_ = data
    outputs = model(x, training=False)
    y = keras.tree.map_structure(ops.convert_to_tensor, y)
    model.compute_loss(x, y, outputs)
    model.compute_metrics(x, y, outputs)
    model.reset_metrics()


def loss_of(classes: bool) -> keras.Loss:
    """Return the loss of a classification by logits, or of a regression."""
    if classes:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return keras.losses.MeanSquaredError()
