"""S-shaped rectified linear units."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import family as equations


@keras.saving.register_keras_serializable(package="keras_vaf")
class SReLU(TrainableActivation):
    """S-shaped rectified linear unit: three lines.

    Formula:

    ```
    f(a) = right_threshold + right_slope * (a - right_threshold)    right of it
    f(a) = a                                                        between
    f(a) = left_threshold + left_slope * (a - left_threshold)       left of it
    ```

    It starts as a leaky ReLU: left threshold 0, left slope 0.2, right slope 1. The
    right threshold starts at 1 and matters once the right slope has changed. Should the
    thresholds cross, for which the formula says nothing, f stays continuous: it is
    `min(max(a, left_threshold), right_threshold)` and what the outer lines add to it.

    Args:
        sharing: As for `TrainableActivation`. As in the paper there is one function for
            each unit of a dense layer and each filter of a convolution: `"channel"`.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `left_threshold`, `left_slope`, `right_threshold` and `right_slope` of shape
        `unshared`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Jin et al., *Deep learning with S-shaped rectified linear activation units*,
        2016](https://arxiv.org/abs/1512.07030), equation 1. The paper holds the leaky
        ReLU fixed for some epochs and then takes the right threshold from the data;
        here all four weights are trained from the first step.

    Example:

    >>> layer = SReLU(sharing="layer")
    >>> layer.set_weights([np.array(value) for value in (-1, 0, 1, 0.5)])
    >>> print(layer.function([-3, 0.5, 3]))
    [-1.   0.5  2. ]
    """

    parameters = ("left_threshold", "left_slope", "right_threshold", "right_slope")

    def __init__(
        self,
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.add_layer_weights()

    @property
    def equation(self) -> equations.SReLU:
        """What the layer computes."""
        return equations.SReLU()

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of the four weights."""
        return [np.full(unshared, value) for value in (0.0, 0.2, 1.0, 1.0)]
