"""`to_arrays`, `prepare` and other preparations of data and models for training."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops


def to_arrays(name: str, data: Any) -> tuple[Any, ...]:
    """Turn inputs, targets and weights into NumPy arrays of equal length.

    Args:
        name: Name of the data, for error messages.
        data: `(x, y)` or `(x, y, sample_weight)`: arrays, or lists or dictionaries of
            arrays.

    Returns:
        The same structure with NumPy arrays. Floating-point arrays have the dtype
        `keras.config.floatx()`.

    Raises:
        ValueError: If the data is neither a pair nor a triple, or if its arrays are not
            numeric, are empty, or have unequal numbers of rows.
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
            f"Received: arrays of shapes {', '.join(map(str, shapes))}"
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
    """Return the order in which an epoch uses the rows.

    NumPy draws the order, so that every backend uses the same batches.

    Args:
        rows: Number of rows.
        batch_size: Rows per update. If all rows form a single batch, they stay in
            order.
        seed: Seed of the training.
        epoch: Number of the epoch.

    Returns:
        The indices of the rows.
    """
    if batch_size is None or batch_size >= rows:
        return np.arange(rows)
    return np.random.default_rng([seed, epoch]).permutation(rows)


def take(data: Any, rows: Any) -> Any:
    """Return some rows of each array."""
    return keras.tree.map_structure(lambda array: array[rows], data)


def prepare(model: keras.Model, data: Any, batch_size: int | None) -> None:
    """Create all variables of a model, of its metrics and of its optimizer.

    Args:
        model: A compiled model.
        data: Inputs and targets, from `to_arrays`.
        batch_size: Rows per update; `None` uses all rows at once.
    """
    x, y = take(data[:2], slice(batch_size))
    outputs = model(x)
    y = keras.tree.map_structure(ops.convert_to_tensor, y)
    model.compute_loss(x, y, outputs)
    model.compute_metrics(x, y, outputs)
    model.optimizer.build(model.trainable_variables)
    model.reset_metrics()


def check_compiled(model: keras.Model) -> None:
    """Raise a `ValueError` unless the model is compiled."""
    if not isinstance(model, keras.Model) or not model.compiled:
        raise ValueError(
            "Expected a model with a loss and an optimizer: call `model.compile(...)` "
            f"first. Received: model={model!r}, not compiled"
        )


def all_variables(model: keras.Model) -> list[keras.Variable]:
    """Return the variables of a model and of its optimizer."""
    return [*model.variables, *model.optimizer.variables]


def read_variables(model: keras.Model) -> list[np.ndarray]:
    """Return the values of all variables of a model and of its optimizer."""
    return [ops.convert_to_numpy(each.value) for each in all_variables(model)]


def assign_variables(model: keras.Model, values: Sequence[Any]) -> None:
    """Set all variables of a model and of its optimizer.

    Args:
        model: A model, after `prepare`.
        values: The values, from `read_variables` of a model with the same architecture.
    """
    for variable, value in zip(all_variables(model), values, strict=True):
        variable.assign(value)
