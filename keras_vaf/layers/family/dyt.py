"""`DyT` and `Derf`, functions that replace normalization layers."""

import dataclasses
from typing import Any

import keras
from keras import ops

from keras_vaf.layers.sharing import GivenSharing
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import Pointwise
from keras_vaf.types import Tensor

_PER_CHANNEL = {"gamma": "channel", "beta": "channel"}


@dataclasses.dataclass(frozen=True)
class ScaledTanh(Pointwise):
    """gamma tanh(alpha x) + beta."""

    def value(self, x: Tensor, alpha: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
        """Return f(x)."""
        return gamma * ops.tanh(alpha * x) + beta


@dataclasses.dataclass(frozen=True)
class ScaledErf(Pointwise):
    """gamma erf(alpha x + shift) + beta."""

    def value(
        self, x: Tensor, alpha: Tensor, shift: Tensor, gamma: Tensor, beta: Tensor
    ) -> Tensor:
        """Return f(x)."""
        return gamma * ops.erf(alpha * x + shift) + beta


@keras.saving.register_keras_serializable(package="keras_vaf")
class DyT(TrainableActivation):
    """Dynamic tanh, a function that replaces layer normalization.

    Formula:

    ```
    f(a) = gamma * tanh(alpha * a) + beta
    ```

    By default, all elements share alpha, and each channel has its own gamma and beta.
    f starts as tanh(a / 2). Arguments, shapes and errors are those of
    `TrainableActivation`.

    Weights:
        `alpha`, `gamma` and `beta`. By default, alpha has the shape `()`, and gamma and
        beta have the shape `(channels,)`.

    Reference:
        [Zhu et al., *Transformers without normalization*,
        2025](https://arxiv.org/abs/2503.10622), equation 3. For language models the
        paper starts alpha at other values: use `alpha_initializer`.

    Example:

    >>> layer = DyT()
    >>> layer.build((None, 8, 16))
    >>> [tuple(weight.shape) for weight in layer.weights]
    [(), (16,), (16,)]
    """

    equation_class = ScaledTanh
    start_values = (0.5, 1.0, 0.0)

    def __init__(
        self,
        sharing: GivenSharing = _PER_CHANNEL,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing, data_format, **kwargs)


@keras.saving.register_keras_serializable(package="keras_vaf")
class Derf(TrainableActivation):
    """Dynamic erf, a function that replaces layer normalization.

    Formula:

    ```
    f(a) = gamma * erf(alpha * a + shift) + beta
    ```

    By default, all elements share alpha and the shift, and each channel has its own
    gamma and beta. f starts as erf(a / 2). Arguments, shapes and errors are those of
    `TrainableActivation`.

    Weights:
        `alpha`, `shift`, `gamma` and `beta`. By default, alpha and the shift have the
        shape `()`, and gamma and beta have the shape `(channels,)`.

    Reference:
        [Chen et al., *Stronger normalization-free transformers*,
        2025](https://arxiv.org/abs/2512.10938), where the shift is s.

    Example:

    >>> print(Derf(sharing="layer").function([0]))
    [0.]
    """

    equation_class = ScaledErf
    start_values = (0.5, 0.0, 1.0, 0.0)

    def __init__(
        self,
        sharing: GivenSharing = _PER_CHANNEL,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing, data_format, **kwargs)
