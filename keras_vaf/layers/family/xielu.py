"""`XIELU`, the expanded integral of the exponential linear unit."""

import math
from typing import Any

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class XIELU(TrainableActivation):
    """Expanded integral of the exponential linear unit.

    Formula:

    ```
    f(a) = p * a^2 + beta * a                    for a > 0
    f(a) = n * (exp(a) - 1) + (beta - n) * a     for a <= 0
    p = softplus(alpha_p)
    n = beta + softplus(alpha_n)
    ```

    f is the integral of an affine function of ELU, with different factors on the two
    sides. The slope at 0 is beta. To the right the slope grows without bound. To the
    left it approaches `-softplus(alpha_n)`, so f rises again. f starts with p = 0.8 and
    n = beta + 0.3.

    Args:
        beta: Slope at 0, which is not trained.
        **kwargs: Arguments of `TrainableActivation`.

    Weights:
        `alpha_p` and `alpha_n` of shape `unshared`.

    Reference:
        [Huang and Schlag, *Deriving activation functions using integration*,
        2024](https://arxiv.org/abs/2411.13010).

    Example:

    >>> print(XIELU().function([-1, 0, 2]).round(3))
    [-0.206  0.     4.2  ]
    """

    equation_fields = ("beta",)
    start_values = (math.log(math.expm1(0.8)), math.log(math.expm1(0.3)))

    def __init__(self, beta: float = 0.5, **kwargs: Any) -> None:
        self.beta = check_number("beta", beta)
        super().__init__(**kwargs)

    def value(self, x: Tensor, alpha_p: Tensor, alpha_n: Tensor) -> Tensor:
        right = ops.softplus(alpha_p) * ops.square(ops.relu(x))
        left = (self.beta + ops.softplus(alpha_n)) * (ops.elu(x) - x)
        return self.beta * x + right + left
