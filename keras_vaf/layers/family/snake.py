"""Snake, the identity with a trained ripple."""

import dataclasses

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import Pointwise
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class Ripple(Pointwise):
    """x + sin(frequency x)^2 / frequency; x where the frequency is 0."""

    def value(self, x: Tensor, frequency: Tensor) -> Tensor:
        """Return f(x)."""
        nonzero = ops.abs(frequency) > 1e-8
        sine = ops.sin(frequency * x)
        # The limit of sin(frequency x) / frequency is x, which has the right gradient.
        return x + sine * ops.where(
            nonzero, sine / ops.where(nonzero, frequency, 1.0), x
        )


@keras.saving.register_keras_serializable(package="keras_vaf")
class Snake(TrainableActivation):
    """Identity with a trained ripple, for functions that repeat themselves.

    Formula:

    ```
    f(a) = a + sin(frequency * a)^2 / frequency
    ```

    The frequency starts at 0.5, and f becomes the identity as it goes to 0. Arguments,
    shapes and errors are those of `TrainableActivation`.

    Weights:
        `frequency` of shape `unshared`.

    Reference:
        [Ziyin, Hartwig, Ueda, *Neural networks fail to learn periodic functions and how
        to fix it*, 2020](https://arxiv.org/abs/2006.08195).

    Example:

    >>> print(Snake().function([0, np.pi]) - [0, np.pi])
    [0. 2.]
    """

    equation_class = Ripple
    start_values = (0.5,)
