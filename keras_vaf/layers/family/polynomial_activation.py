"""`PolynomialActivation`, a polynomial with trained coefficients."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.types import Tensor
from keras_vaf.utils import MOST_UNITS, check_integer


def horner(x: Tensor, coefficients: Parameter) -> Tensor:
    """Return a polynomial of x. The coefficients begin with that of x^0."""
    y = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        y = y * x + coefficient
    return y


@keras.saving.register_keras_serializable(package="keras_vaf")
class PolynomialActivation(TrainableActivation):
    """Polynomial with trained coefficients.

    Formula:

    ```
    f(a) = sum_{i=0..degree} coefficients_i * a^i
    ```

    The layer starts as the identity.

    Args:
        degree: Degree of the polynomial.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `coefficients` of shape `(*unshared, degree + 1)`.

    Reference:
        [Ertuğrul, *A novel type of activation function in artificial neural networks:
        trained activation function*,
        2018](https://doi.org/10.1016/j.neunet.2018.01.007). The paper finds the
        coefficients by linear regression, in a network with random weights. Here they
        are trained by gradient descent like any other weight.

    Example:

    >>> layer = PolynomialActivation(degree=2, sharing="layer")
    >>> layer.set_weights([np.array([1, 0, 3])])
    >>> print(layer.function([0, 2]))
    [ 1. 13.]
    """

    default_sharing = "channel"

    def __init__(self, degree: int = 3, **kwargs: Any) -> None:
        self.degree = check_integer("degree", degree, maximum=MOST_UNITS)
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        identity = np.eye(self.degree + 1)[1]
        return (np.broadcast_to(identity, (*unshared, self.degree + 1)),)

    def value(self, x: Tensor, coefficients: Parameter) -> Tensor:
        return horner(x, coefficients)
