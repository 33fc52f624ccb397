"""`Snake` and `SnakeBeta`, the identity plus a term of trained frequency."""

from typing import Any

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor
from keras_vaf.utils import check_flag, check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class Snake(TrainableActivation):
    """Identity plus a periodic term with a trained frequency, for periodic targets.

    Formula:

    ```
    f(a) = a + sin(frequency * a)^2 / frequency
    ```

    f approaches the identity as the frequency goes to 0.

    Args:
        initial_frequency: Start value of the frequency. The paper uses 0.5 for most
            tasks, and 5 to 50 for targets that are known to be periodic.
        **kwargs: Arguments of `TrainableActivation`.

    Weights:
        `frequency` of shape `unshared`.

    Reference:
        [Ziyin, Hartwig, Ueda, *Neural networks fail to learn periodic functions and how
        to fix it*, 2020](https://arxiv.org/abs/2006.08195).

    Example:

    >>> print(Snake().function([0, np.pi]) - [0, np.pi])
    [0. 2.]
    """

    def __init__(self, initial_frequency: float = 0.5, **kwargs: Any) -> None:
        self.initial_frequency = check_number("initial_frequency", initial_frequency)
        self.start_values = (self.initial_frequency,)
        super().__init__(**kwargs)

    def value(self, x: Tensor, frequency: Tensor) -> Tensor:
        nonzero = ops.abs(frequency) > 1e-8
        sine = ops.sin(frequency * x)
        # The limit of sin(frequency x) / frequency is x, which has the right gradient.
        return x + sine * ops.where(
            nonzero, sine / ops.where(nonzero, frequency, 1.0), x
        )


@keras.saving.register_keras_serializable(package="keras_vaf")
class SnakeBeta(TrainableActivation):
    """Snake with separately trained frequency and height, used in vocoders.

    Formula:

    ```
    f(a) = a + sin(exp(alpha) * a)^2 / (exp(beta) + 1e-9)
    ```

    `log_scale=False` leaves out both exp. The frequency and the height start at 1.

    Args:
        log_scale: Whether the weights are the logarithms of frequency and height.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Reference:
        [Lee et al., *BigVGAN: a universal neural vocoder with large-scale training*,
        2023](https://arxiv.org/abs/2206.04658), and the authors' code, whose formula,
        start and constant 1e-9 are used here.

    Example:

    >>> print(SnakeBeta(sharing="layer").function([0, np.pi / 2]).round(3))
    [0.    2.571]
    """

    equation_fields = ("log_scale",)
    default_sharing = "channel"

    def __init__(self, log_scale: bool = True, **kwargs: Any) -> None:
        self.log_scale = check_flag("log_scale", log_scale)
        self.start_values = (0.0, 0.0) if log_scale else (1.0, 1.0)
        super().__init__(**kwargs)

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        if self.log_scale:
            alpha, beta = ops.exp(alpha), ops.exp(beta)
        return x + ops.square(ops.sin(alpha * x)) / (beta + 1e-9)
