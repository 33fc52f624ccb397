"""`AdaptiveSigmoid` and `AdaptiveTanh`, with trained height and slope."""

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class AdaptiveSigmoid(TrainableActivation):
    """Sigmoid with trained height and slope.

    Formula:

    ```
    f(a) = alpha / (1 + exp(-beta * a))
    ```

    The layer starts as the sigmoid. Arguments, shapes and errors are those of
    `TrainableActivation`.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Reference:
        Hu and Shao, *The study of neural network adaptive control systems*, 1992.

    Example:

    >>> print(AdaptiveSigmoid().function([0]))
    [0.5]
    """

    start_values = (1.0, 1.0)

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        return alpha * ops.sigmoid(beta * x)


@keras.saving.register_keras_serializable(package="keras_vaf")
class AdaptiveTanh(TrainableActivation):
    """Hyperbolic tangent with trained height and slope.

    Formula:

    ```
    f(a) = alpha * tanh(beta * a)
    ```

    The layer starts as the hyperbolic tangent. Arguments, shapes and errors are those
    of `TrainableActivation`.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Reference:
        Chen and Chang, *A feedforward neural network with function shape autotuning*,
        1996. The paper writes alpha (1 - exp(-b a)) / (1 + exp(-b a)), whose b is twice
        the beta here.

    Example:

    >>> print(AdaptiveTanh().function([0]))
    [0.]
    """

    start_values = (1.0, 1.0)

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        return alpha * ops.tanh(beta * x)
