"""Polynomials as activations."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import Pointwise
from keras_vaf.ops.equation import Parameter
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer


@dataclasses.dataclass(frozen=True)
class Polynomial(Pointwise):
    """sum_i coefficients_i x^i."""

    def value(self, x: Tensor, coefficients: Parameter) -> Tensor:
        """Return f(x)."""
        return horner(x, coefficients)


def horner(x: Tensor, coefficients: Parameter) -> Tensor:
    """Return the polynomial of x with given coefficients, that of x^0 first."""
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

    It starts as the identity.

    Args:
        degree: Degree of the polynomial.
        **kwargs: These, `sharing` and `data_format` are as for `TrainableActivation`.

    Weights:
        `coefficients` of shape `(*unshared, degree + 1)`.

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

    equation_class = Polynomial

    def __init__(
        self,
        degree: int = 3,
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.degree = check_integer("degree", degree)
        super().__init__(sharing, data_format, **kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return start values of the coefficients."""
        coefficients = np.zeros((*unshared, self.degree + 1))
        coefficients[..., 1] = 1
        return (coefficients,)
