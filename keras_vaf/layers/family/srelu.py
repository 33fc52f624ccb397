"""`SReLU`, the S-shaped rectified linear unit."""

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class SReLU(TrainableActivation):
    """S-shaped rectified linear unit: three lines.

    Formula:

    ```
    f(a) = l + left_slope * (a - l)      for a < l
    f(a) = a                             for l <= a <= r
    f(a) = r + right_slope * (a - r)     for a > r
    l = left_threshold
    r = right_threshold
    ```

    The layer starts as a leaky ReLU: left threshold 0, left slope 0.2, right slope 1.
    The right threshold starts at 1 and has an effect once the right slope has changed.
    The formula does not define f if the thresholds have crossed. In that case f is
    continuous and equals `min(max(a, left_threshold), right_threshold)` plus the terms
    of the outer lines.

    Arguments, shapes and errors are those of `TrainableActivation`, with
    `sharing="channel"` by default.

    Weights:
        `left_threshold`, `left_slope`, `right_threshold` and `right_slope` of shape
        `unshared`.

    Reference:
        [Jin et al., *Deep learning with S-shaped rectified linear activation units*,
        2016](https://arxiv.org/abs/1512.07030), equation 1. The paper keeps the leaky
        ReLU fixed for some epochs and then sets the right threshold from the data. Here
        all four weights are trained from the first step.

    Example:

    >>> layer = SReLU(sharing="layer")
    >>> layer.set_weights([np.array(value) for value in (-1, 0, 1, 0.5)])
    >>> print(layer.function([-3, 0.5, 3]))
    [-1.   0.5  2. ]
    """

    default_sharing = "channel"
    start_values = (0.0, 0.2, 1.0, 1.0)

    def value(
        self,
        x: Tensor,
        left_threshold: Tensor,
        left_slope: Tensor,
        right_threshold: Tensor,
        right_slope: Tensor,
    ) -> Tensor:
        middle = ops.minimum(ops.maximum(x, left_threshold), right_threshold)
        left = left_slope * ops.relu(left_threshold - x)
        right = right_slope * ops.relu(x - right_threshold)
        return middle - left + right
