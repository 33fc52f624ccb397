"""The sigmoid with trained height and slope."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import family as equations


@keras.saving.register_keras_serializable(package="keras_vaf")
class AdaptiveSigmoid(TrainableActivation):
    """Sigmoid of trained height and slope.

    Formula:

    ```
    f(a) = alpha / (1 + exp(-beta * a))
    ```

    It starts as the sigmoid.

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
        Hu and Shao, *The study of neural network adaptive control systems*, 1992.

    Example:

    >>> print(AdaptiveSigmoid().function([0]))
    [0.5]
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
    def equation(self) -> equations.Sigmoid:
        """What the layer computes."""
        return equations.Sigmoid()

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of alpha and beta."""
        return np.ones(unshared), np.ones(unshared)
