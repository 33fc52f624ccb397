"""`Rational`, a rational function without poles (Padé activation unit)."""

import functools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.layers.family.polynomial_activation import horner
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.ops.functions import Function, evaluate, get_function, stored_form
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer

_BOUNDARY = 5.0
_ITERATIONS = 300


@keras.saving.register_keras_serializable(package="keras_vaf")
class Rational(TrainableActivation):
    """Rational function without poles: a Padé activation unit.

    Formula:

    ```
    f(a) = (sum_{i=0..m} numerator_i * a^i) / (1 + |sum_{j=1..n} denominator_j * a^j|)
    ```

    The layer starts near a given function: its coefficients minimize the largest error
    on [-5, 5]. With the default degrees this error is 0.022 for relu, 0.018 for
    leaky_relu, 0.0025 for gelu, 0.0005 for elu, and below 0.0001 for silu, softplus,
    tanh and sigmoid. The error grows outside of [-5, 5], where f approaches a line if m
    = n + 1. In single precision the gradients are accurate for inputs up to 50,000.

    Args:
        numerator_degree: Degree m of the numerator.
        denominator_degree: Degree n of the denominator.
        initialization: Function that f starts near: an element-wise Keras activation
            (`"tanh"`), or a registered function.
        **kwargs: Arguments of `TrainableActivation`.

    Weights:
        `numerator` of shape `(*unshared, m + 1)` and `denominator` of shape
        `(*unshared, n)`.

    Reference:
        [Molina, Schramowski, Kersting, *Padé activation units: end-to-end learning of
        flexible activation functions in deep networks*,
        2020](https://arxiv.org/abs/1907.06732). The paper fits on [-3, 3]. Its leaky
        ReLU has slope 0.01, that of Keras 0.2.

    Example:

    >>> layer = Rational(initialization="tanh")
    >>> print(layer.function([-1, 1, 2]).round(3))
    [-0.762  0.762  0.964]
    """

    def __init__(
        self,
        numerator_degree: int = 5,
        denominator_degree: int = 4,
        initialization: str | Function = "leaky_relu",
        **kwargs: Any,
    ) -> None:
        self.numerator_degree = check_integer("numerator_degree", numerator_degree)
        self.denominator_degree = check_integer(
            "denominator_degree", denominator_degree
        )
        self.initialization = stored_form(initialization, "initialization")
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return the start values of numerator and denominator."""
        function = get_function(self.initialization, "initialization")
        best = fit(function, self.numerator_degree, self.denominator_degree)
        return [np.broadcast_to(each, (*unshared, len(each))) for each in best]

    def value(self, x: Tensor, numerator: Parameter, denominator: Parameter) -> Tensor:
        """Return f(x)."""
        return horner(x, numerator) / (1 + ops.abs(x * horner(x, denominator)))


@functools.lru_cache(maxsize=32)
def fit(
    function: Function, numerator_degree: int, denominator_degree: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients that minimize the largest error of f on [-5, 5].

    Args:
        function: Function to approximate.
        numerator_degree: Degree of the numerator.
        denominator_degree: Degree of the denominator.

    Returns:
        The coefficients of the numerator and of the denominator.
    """
    x = np.linspace(-1, 1, 301)
    target = evaluate(function, _BOUNDARY * x)
    p = x[:, None] ** np.arange(numerator_degree + 1)
    q = x[:, None] ** np.arange(1, denominator_degree + 1)
    even = np.arange(1, denominator_degree + 1) % 2 == denominator_degree % 2
    best, least = np.zeros(p.shape[1] + q.shape[1]), np.inf
    # If Q is 0 everywhere, |Q| has no gradient. Choose this start only if much better.
    for scale, handicap in ((1.0, 0.0), (10.0, 0.0), (0.0, 1e-6)):
        found, error = _descend(p, q, target, scale * even)
        if error < least - handicap:
            best, least = found, error
    powers = np.concatenate([range(p.shape[1]), range(1, q.shape[1] + 1)])
    numerator, denominator = np.split(best / _BOUNDARY**powers, [p.shape[1]])
    return numerator, denominator


def _descend(
    p: np.ndarray, q: np.ndarray, target: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the best coefficients from one start, and their largest error.

    The Levenberg-Marquardt method solves a weighted least-squares problem. Lawson's
    method increases the weights where the error is large, which minimizes the largest
    error.
    """
    count = p.shape[1]

    def model(c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inner = q @ c[count:]
        divisor = 1 + np.abs(inner)
        y = p @ c[:count] / divisor
        slope = np.where(inner < 0, y, -y)[:, None] * q
        return y - target, np.hstack([p, slope]) / divisor[:, None]

    divisor = 1 + np.abs(q @ start)
    first = np.linalg.lstsq(p / divisor[:, None], target, rcond=None)[0]
    c = best = np.concatenate([first, start])
    weights, damping, least = np.ones(len(target)), 1e-3, np.inf
    for i in range(_ITERATIONS):
        error, jacobian = model(c)
        size = np.abs(error)
        if size.max() < least:
            best, least = c, size.max()
        if i % 5 == 4:
            weights = np.maximum(weights * size / (size.max() or 1.0), 1e-4)
            weights /= weights.max()
        weighted = (weights[:, None] * jacobian).T
        normal = weighted @ jacobian
        damped = normal + damping * np.diag(np.diag(normal) + 1e-12)
        new = c - np.linalg.lstsq(damped, weighted @ error, rcond=None)[0]
        better = weights @ model(new)[0] ** 2 < weights @ error**2
        c = new if better else c
        damping = np.clip(damping / 3 if better else damping * 4, 1e-12, 1e6)
    return best, least
