"""The hyperbolic tangent with trained height and slope."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import family as equations


@keras.saving.register_keras_serializable(package="keras_vaf")
class AdaptiveTanh(TrainableActivation):
    """Hyperbolic tangent of trained height and slope.

    Formula:

    ```
    f(a) = alpha * tanh(beta * a)
    ```

    It starts as the hyperbolic tangent.

    Args:
        sharing: As for `TrainableActivation`.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        Chen and Chang, *A feedforward neural network with function shape autotuning*,
        1996. Written with exponentials, as alpha (1 - exp(-b a)) / (1 + exp(-b a)), its
        b is twice the beta here.

    Example:

    >>> print(AdaptiveTanh().function([0]))
    [0.]
    """

    parameters = ("alpha", "beta")

    def __init__(
        self,
        sharing: str | Sequence[int] = "layer",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.add_layer_weights()

    @property
    def equation(self) -> equations.Tanh:
        """What the layer computes."""
        return equations.Tanh()

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of alpha and beta."""
        return np.ones(unshared), np.ones(unshared)
