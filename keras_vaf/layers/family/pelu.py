"""Parametric exponential linear units."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.constraints import Interval
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import family as equations


@keras.saving.register_keras_serializable(package="keras_vaf")
class PELU(TrainableActivation):
    """Parametric exponential linear unit.

    Formula:

    ```
    f(a) = alpha / beta * a                for a >= 0
    f(a) = alpha * (exp(a / beta) - 1)     for a < 0
    ```

    It starts as ELU. Both weights are kept at 0.1 or more, as in the paper.

    Args:
        sharing: As for `TrainableActivation`. As in the paper, a layer shares one
            function.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`; `alpha_constraint` and
            `beta_constraint` replace those that keep the weights positive.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Trottier, Giguère, Chaib-draa, *Parametric exponential linear unit for deep
        convolutional neural networks*, 2017](https://arxiv.org/abs/1605.09332),
        equation 4; alpha and beta are its a and b.

    Example:

    >>> print(PELU().function([0, 2]))
    [0. 2.]
    """

    parameters = ("alpha", "beta")

    def __init__(
        self,
        sharing: str | Sequence[int] = "layer",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        for name in self.parameters:
            kwargs.setdefault(f"{name}_constraint", Interval(minimum=0.1))
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.add_layer_weights()

    @property
    def equation(self) -> equations.PELU:
        """What the layer computes."""
        return equations.PELU()

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of alpha and beta."""
        return np.ones(unshared), np.ones(unshared)
