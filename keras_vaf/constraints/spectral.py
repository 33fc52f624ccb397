"""`SpectralNorm` and `Orthogonal`, constraints on the kernels of Keras layers."""

import math
from typing import Any

import keras
from keras import ops

from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer, check_positive


@keras.saving.register_keras_serializable(package="keras_vaf")
class SpectralNorm(keras.constraints.Constraint):
    """Keep the spectral norm of a kernel within a limit.

    Formula:

    ```
    W = W * limit / bound     for bound > limit
    ```

    Pass the constraint as `kernel_constraint` to `keras.layers.Dense` or a Keras
    convolution. If a bound on the norm exceeds the limit, the kernel is multiplied by
    `limit / bound`. Unlike the power iteration of `keras.layers.SpectralNormalization`,
    the bound is never below the norm. For a matrix with n columns, `iterations`
    squarings of its Gram matrix give at most n^(1 / 2^(iterations + 1)) times its norm.

    For a convolution, the kernel is seen as a matrix of shape `(positions * input
    channels, filters)`. The bound is that of this matrix, times the square root of the
    number of positions. This bound holds for every stride, dilation and zero padding.
    `keras_vaf.models.lipschitz_certificate` computes a tighter bound.

    Args:
        limit: Largest allowed spectral norm, above 0.
        iterations: Number of squarings.

    Raises:
        ValueError: If an argument is out of its range.

    Reference:
        Delattre et al., *Efficient bound of Lipschitz constant for convolutional layers
        by Gram iteration*, 2023.

    Example:

    >>> kernel = SpectralNorm(1.0)(keras.ops.array([[3.0, 0.0], [0.0, 0.5]]))
    >>> print(keras.ops.convert_to_numpy(kernel).round(3))
    [[1.    0.   ]
     [0.    0.167]]
    """

    def __init__(self, limit: float = 1.0, iterations: int = 8) -> None:
        self.limit = check_positive("limit", limit)
        self.iterations = check_integer("iterations", iterations)

    def __call__(self, value: Tensor) -> Tensor:
        """Return the kernel, rescaled if its norm is too large."""
        value = ops.convert_to_tensor(value)
        matrix = ops.reshape(value, (-1, value.shape[-1]))
        places = math.prod(value.shape[:-2])  # 1 for a matrix
        bound = _norm_bound(matrix, self.iterations) * places**0.5
        return value * _factor(bound, self.limit)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"limit": self.limit, "iterations": self.iterations}


@keras.saving.register_keras_serializable(package="keras_vaf")
class Orthogonal(SpectralNorm):
    """Keep the kernel of a `keras.layers.Dense` a multiple of an orthogonal matrix.

    Formula:

    ```
    W = 1.5 * W - 0.5 * W . W^T . W     (repeated)
    ```

    All singular values of the kernel become nearly equal to the limit, so that the
    layer neither enlarges nor shrinks gradients. For networks with a Lipschitz
    certificate, training works better with this constraint than with `SpectralNorm`.
    The kernel is scaled to a norm of at most 1 and orthogonalized by `steps` Björck
    iterations. The result is scaled again, so that the norm never exceeds the limit.

    Args:
        limit: The spectral norm, above 0.
        iterations: As for `SpectralNorm`.
        steps: Number of Björck iterations.

    Raises:
        ValueError: If an argument is out of its range, or if the kernel is not a
            matrix.

    Reference:
        Anil, Lucas, Grosse, *Sorting out Lipschitz function approximation*, 2019.

    Example:

    >>> kernel = Orthogonal()(keras.ops.array([[3.0, 0.0], [0.0, 0.5]]))
    >>> print(keras.ops.convert_to_numpy(kernel).round(2))
    [[1. 0.]
     [0. 1.]]
    """

    def __init__(
        self, limit: float = 1.0, iterations: int = 8, steps: int = 12
    ) -> None:
        super().__init__(limit, iterations)
        self.steps = check_integer("steps", steps)

    def __call__(self, value: Tensor) -> Tensor:
        """Return the kernel with all singular values near the limit."""
        value = ops.convert_to_tensor(value)
        if len(value.shape) != 2:
            raise ValueError(
                "Orthogonal is for `kernel_constraint` of a Dense layer. "
                f"Received: a kernel of shape {tuple(value.shape)}"
            )
        wide = value.shape[0] < value.shape[1]
        matrix = ops.transpose(value) if wide else value
        bound = _norm_bound(matrix, self.iterations)
        matrix = matrix / ops.maximum(bound, 1e-30)
        for _ in range(self.steps):
            gram = ops.matmul(ops.transpose(matrix), matrix)
            matrix = 1.5 * matrix - 0.5 * ops.matmul(matrix, gram)
        matrix = ops.transpose(matrix) if wide else matrix
        return super().__call__(self.limit * matrix)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "steps": self.steps}


def _norm_bound(matrix: Tensor, iterations: int) -> Tensor:
    """Return an upper bound on the spectral norm, with a margin for rounding.

    The squares are rescaled so that they neither overflow nor underflow: with G = c H
    the norm is (c |H|)^(1/2), and so on.
    """
    size = ops.maximum(ops.max(ops.abs(matrix)), 1e-30)
    matrix = matrix / size
    if matrix.shape[0] < matrix.shape[1]:
        matrix = ops.transpose(matrix)
    gram = ops.matmul(ops.transpose(matrix), matrix)
    logarithm, power = ops.log(size), 0.5
    for _ in range(iterations):
        scale = ops.maximum(ops.norm(gram), 1e-30)
        logarithm = logarithm + power * ops.log(scale)
        gram = gram / scale
        gram = ops.matmul(gram, gram)
        power = power / 2
    bound = ops.exp(logarithm + power * ops.log(ops.maximum(ops.norm(gram), 1e-30)))
    return bound * (1 + 2e-6 + 2e-7 * min(matrix.shape))


def _factor(bound: Tensor, limit: float) -> Tensor:
    one = ops.ones_like(bound)
    steep = bound > limit * (1 + 1e-6)
    return ops.where(steep, limit / ops.where(steep, bound, one), one)
