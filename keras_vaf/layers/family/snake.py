"""`Snake`, the identity plus a periodic term with a trained frequency."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import Pointwise
from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


@dataclasses.dataclass(frozen=True)
class Ripple(Pointwise):
    """x + sin(frequency x)^2 / frequency, and x where the frequency is 0."""

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
    """Identity plus a periodic term with a trained frequency, for periodic targets.

    Formula:

    ```
    f(a) = a + sin(frequency * a)^2 / frequency
    ```

    f approaches the identity as the frequency goes to 0.

    Args:
        initial_frequency: Start value of the frequency. The paper uses 0.5 for most
            tasks, and 5 to 50 for targets that are known to be periodic.
        **kwargs: Arguments of `TrainableActivation`, as are `sharing` and
            `data_format`.

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

    def __init__(
        self,
        initial_frequency: float = 0.5,
        sharing: str | Sequence[int] = "layer",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.initial_frequency = check_number("initial_frequency", initial_frequency)
        self.start_values = (self.initial_frequency,)
        super().__init__(sharing, data_format, **kwargs)
