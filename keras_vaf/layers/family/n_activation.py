"""`NActivation`, three lines of slopes 1, -1 and 1."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import Pointwise
from keras_vaf.ops.equation import Parameter
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class ThreeSlopes(Pointwise):
    """-x between the two entries of theta, and lines of slope 1 outside."""

    def value(self, x: Tensor, theta: Parameter) -> Tensor:
        """Return f(x)."""
        low, high = ops.minimum(*theta), ops.maximum(*theta)
        right = ops.where(x < high, -x, x - 2 * high)
        return ops.where(x < low, x - 2 * low, right)


@keras.saving.register_keras_serializable(package="keras_vaf")
class NActivation(TrainableActivation):
    """N-activation: lines of slopes 1, -1 and 1 for networks with a certificate.

    Formula:

    ```
    f(a) = a - 2 * low     for a < low
    f(a) = -a              for low <= a < high
    f(a) = a - 2 * high    for a >= high
    low = min(theta_1, theta_2)
    high = max(theta_1, theta_2)
    ```

    The absolute value of the slope is 1 everywhere, so a
    `keras_vaf.models.lipschitz_certificate` counts the layer with the constant 1. theta
    starts at (-1, 0): f is the absolute value on [-1, infinity).

    Arguments, shapes and errors are those of `TrainableActivation`.

    Weights:
        `theta` of shape `(*unshared, 2)`.

    Reference:
        [Prach, Lampert, *1-Lipschitz neural networks are more expressive with
        N-activations*, 2023](https://arxiv.org/abs/2311.06103). The start is ours.

    Example:

    >>> print(NActivation(sharing="layer").function([-2, -0.5, 3]))
    [0.  0.5 3. ]
    """

    equation_class = ThreeSlopes

    def __init__(
        self,
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing, data_format, **kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return the start values of theta."""
        return (np.broadcast_to([-1.0, 0.0], (*unshared, 2)),)

    def lipschitz_constant(self) -> float:
        """Return the largest slope, which is 1."""
        return 1.0
