"""`Simplex`, a constraint to the weights of a convex combination."""

import keras
from keras import ops

from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Simplex(keras.constraints.Constraint):
    """Keep weights non-negative, with a sum of 1 along the last axis.

    Formula:

    ```
    w_i = max(0, w_i - shift)     (the shift makes the sum 1)
    ```

    The constraint projects the weights to the nearest allowed ones in Euclidean
    distance. It subtracts the same number from all weights and sets negative results to
    0.

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
        # The number to subtract if only the 1, 2, ... largest weights stay above 0.
        shifts = (ops.cumsum(descending, axis=-1) - 1) / count
        # The largest of these numbers is the right one.
        shift = ops.max(shifts, axis=-1, keepdims=True)
        return ops.maximum(value - shift, 0)
