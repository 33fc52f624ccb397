"""`Simplex`, a constraint to weights of a convex combination."""

import keras
from keras import ops

from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Simplex(keras.constraints.Constraint):
    """Keep weights positive or 0, and their sum along the last axis 1.

    The constraint takes the nearest such weights, in the Euclidean sense: it subtracts
    the same number from all of them, and sets those below 0 to 0.

    Reference:
        Duchi et al., *Efficient projections onto the l1-ball for learning in high
        dimensions*, 2008, figure 1.

    Example:

    >>> weights = Simplex()(keras.ops.array([1.0, 0.5, -0.5]))
    >>> print(keras.ops.convert_to_numpy(weights))
    [0.75 0.25 0.  ]
    """

    def __call__(self, value: Tensor) -> Tensor:
        """Return the nearest weights of a convex combination."""
        value = ops.convert_to_tensor(value)
        count = ops.cast(ops.arange(1, value.shape[-1] + 1), value.dtype)
        descending = ops.flip(ops.sort(value, axis=-1), axis=-1)
        # The number to subtract if the largest 1, 2, ... weights alone stay above 0.
        shifts = (ops.cumsum(descending, axis=-1) - 1) / count
        # The largest of these numbers is the right one.
        shift = ops.max(shifts, axis=-1, keepdims=True)
        return ops.maximum(value - shift, 0)
