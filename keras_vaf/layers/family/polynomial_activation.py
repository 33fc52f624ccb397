"""Polynomials as activations."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.validation import check_integer
from keras_vaf.ops import family as equations


@keras.saving.register_keras_serializable(package="keras_vaf")
class PolynomialActivation(TrainableActivation):
    """Polynomial with trained coefficients.

    Formula:

    ```
    f(a) = sum_{i=0..degree} coefficients_i * a^i
    ```

    It starts as the identity.

    Args:
        degree: Degree of the polynomial.
        sharing: As for `TrainableActivation`. As in the paper there is one function for
            each unit: `"channel"`.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `coefficients` of shape `(*unshared, degree + 1)`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Ertuğrul, *A novel type of activation function in artificial neural networks:
        trained activation function*, 2018](https://doi.org/10.1016/j.neunet.2018.01.007).
        There the coefficients of a network with random weights follow from a linear
        regression; here they are trained by gradients, like any other weight.

    Example:

    >>> layer = PolynomialActivation(degree=2, sharing="layer")
    >>> layer.set_weights([np.array([1, 0, 3])])
    >>> print(layer.function([0, 2]))
    [ 1. 13.]
    """

    parameters = ("coefficients",)

    def __init__(
        self,
        degree: int = 3,
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.degree = check_integer("degree", degree, minimum=1)
        self.add_layer_weights()

    @property
    def equation(self) -> equations.Polynomial:
        """What the layer computes."""
        return equations.Polynomial()

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of the coefficients."""
        coefficients = np.zeros((*unshared, self.degree + 1))
        coefficients[..., 1] = 1
        return (coefficients,)
