"""`on_elements`, which also takes TensorFlow's ragged tensors and unknown ranks."""

from collections.abc import Callable, Sequence
from typing import Any

import keras

from keras_vaf.types import Tensor


def has_unknown_rank(x: Any) -> bool:
    """Return whether the rank of a tensor is unknown."""
    if keras.backend.backend() != "tensorflow":
        return False
    return getattr(getattr(x, "shape", None), "rank", 0) is None


def on_elements(
    compute: Callable[[Tensor, Sequence[int]], Tensor],
    x: Tensor,
    unshared: Sequence[int],
) -> Tensor:
    """Apply a function to every element of a tensor, which may be ragged.

    Args:
        compute: Function of a tensor of known rank and its unshared axes.
        x: The tensor.
        unshared: Axes along which functions differ. Ragged axes must be shared.

    Raises:
        ValueError: If functions differ along a ragged axis.
    """
    if hasattr(x, "with_flat_values"):
        axes = [axis - x.ragged_rank for axis in unshared]
        if min(axes, default=1) < 1:
            raise ValueError(
                "The function must be shared along ragged axes (see `sharing`). "
                f"Received: an input of shape {tuple(x.shape)}"
            )
        return x.with_flat_values(compute(x.flat_values, axes))
    if has_unknown_rank(x):
        import tensorflow as tf

        return tf.reshape(compute(tf.reshape(x, (-1, 1)), ()), tf.shape(x))
    return compute(x, unshared)
