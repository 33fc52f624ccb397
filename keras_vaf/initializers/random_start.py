"""`RandomStart`, the classic random start of a VAF, plain or rescaled."""

from collections.abc import Sequence
from typing import Any, Self

import keras
import numpy as np

from keras_vaf.initializers.glorot import generator
from keras_vaf.initializers.start import Start, Values
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, evaluate
from keras_vaf.utils import check_flag, check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class RandomStart(Start):
    """The classic random start of a dense 1 -> k -> 1 network.

    Formula:

    ```
    limit = sqrt(6 / (1 + k))
    ```

    NumPy draws alpha and beta between -limit and limit. Both biases are 0.
    `initialization="random"` selects this start.

    The plain start changes the scale of the signal by a factor that depends on k and g.
    As a result, a deep network may output a constant. `rescale=True` keeps the scale.
    It divides beta of each function by the root mean square of f under the standard
    normal density, and sets beta_bias so that f(0) = 0. If the hidden units nearly
    cancel, the sign of the largest unit is flipped first. alpha is 32 times smaller for
    g = exponential, and 16 times larger for the shrink functions. For g = square and
    relu_squared, no start keeps the scale of a deep network.

    Args:
        seed: Non-negative integer; weights are equal on every backend. `None` draws a
            seed that follows `keras.utils.set_random_seed`.
        rescale: Whether to keep the scale of the signal, for deep networks.

    Raises:
        ValueError: If the seed is neither a non-negative integer nor `None`.

    Reference:
        The "classic random initialization" of the paper, section 4.1.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization=RandomStart(seed=7))
    """

    def __init__(self, seed: int | None = None, rescale: bool = False) -> None:
        self.seed = None if seed is None else check_integer("seed", seed, minimum=0)
        self.rescale = check_flag("rescale", rescale)

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Return the start values of every function of a layer (see `Start`)."""
        for_alpha, for_beta = generator(self.seed).spawn(2)
        limit = np.sqrt(6 / (1 + k))
        shape = (*unshared, k)
        alpha = for_alpha.uniform(-limit, limit, shape)
        beta = for_beta.uniform(-limit, limit, shape)
        if not self.rescale:
            return alpha, np.zeros(shape), beta, np.zeros(tuple(unshared))
        alpha *= elementwise(g).scale
        beta = _rescaled(alpha, beta, g)
        beta_bias = -np.sum(beta, axis=-1) * evaluate(g, 0.0)
        return alpha, np.zeros(shape), beta, beta_bias

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"seed": self.seed, "rescale": self.rescale}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return the start of a configuration; older ones are rescaled."""
        return cls(**{"rescale": True, **config})


def _rescaled(alpha: np.ndarray, beta: np.ndarray, g: Function) -> np.ndarray:
    """Return beta such that the mean square of f is 1 under the normal density."""
    together, each = _mean_squares(alpha, beta, g)
    # If the units nearly cancel, rescaling would make beta huge.
    cancels = together < each.sum(axis=-1) / 100
    largest = each == each.max(axis=-1, keepdims=True)
    beta = np.where(cancels[..., None] & largest, -beta, beta)
    together, _ = _mean_squares(alpha, beta, g)
    return beta / np.sqrt(np.maximum(together, np.finfo("float32").tiny))[..., None]


def _mean_squares(
    alpha: np.ndarray, beta: np.ndarray, g: Function
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean squares of f(z) - f(0) and of its units, for z ~ N(0, 1)."""
    at_zero = evaluate(g, 0.0)
    together, each = np.zeros(alpha.shape[:-1]), np.zeros(alpha.shape)
    # Loop over the points: with "neuron" sharing, an axis of points would be too large.
    for point, weight in zip(*np.polynomial.hermite_e.hermegauss(40), strict=True):
        units = beta * (evaluate(g, alpha * point) - at_zero)
        density = weight / np.sqrt(2 * np.pi)
        together += density * np.sum(units, axis=-1) ** 2
        each += density * units**2
    return together, each
