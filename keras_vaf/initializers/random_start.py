"""`RandomStart`: the classic random start of a VAF, plain or rescaled."""

from collections.abc import Sequence
from typing import Any, Self

import keras
import numpy as np

from keras_vaf.initializers.generator import generator
from keras_vaf.initializers.start import Start, Values
from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.functions import Function, evaluate
from keras_vaf.utils import check_flag, check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class RandomStart(Start):
    """The classic random start of a dense 1 -> k -> 1 network.

    alpha and beta are Glorot uniform with the fans of the sub-network, 1 and k,
    whatever the sharing: uniform in `[-limit, limit]`, `limit = sqrt(6 / (1 + k))`.
    Both biases are 0. `initialization="random"` is this start.

    The plain start changes the scale of the signal by a factor that depends on k and g,
    and a deep network may output a constant. `rescale=True` keeps the scale: beta of
    each function is divided by the root mean square of f under the standard normal
    density, and beta_bias makes f(0) = 0 (it is 0 if g(0) = 0, as for relu or tanh). If
    the hidden units nearly cancel, the largest of them changes its sign first. With g =
    exponential alpha is then 32 times smaller, and with the shrinks 16 times larger.

    Args:
        seed: Non-negative integer from which NumPy draws the weights, equally on every
            backend. Each weight has a separate stream. `None` draws a seed that
            follows `keras.utils.set_random_seed`.
        rescale: Whether to keep the scale of the signal, for deep networks.

    Raises:
        ValueError: If the seed is neither.

    Reference:
        The paper calls its start "classic random initialization" (section 4.1);
        Glorot and Bengio, *Understanding the difficulty of training deep feedforward
        neural networks*, 2010.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(initialization=RandomStart(seed=7))
    """

    def __init__(self, seed: int | None = None, rescale: bool = False) -> None:
        self.seed = None if seed is None else check_integer("seed", seed, minimum=0)
        self.rescale = check_flag("rescale", rescale)

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Start values of every function of a layer (see `Start`)."""
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
        """Arguments of the constructor."""
        return {"seed": self.seed, "rescale": self.rescale}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make a start from its configuration.

        Configurations without `rescale` are older than this argument, and every random
        start was rescaled then.
        """
        return cls(**{"rescale": True, **config})


def _rescaled(alpha: np.ndarray, beta: np.ndarray, g: Function) -> np.ndarray:
    """Return beta of functions whose mean square is 1 under the normal density."""
    together, each = _mean_squares(alpha, beta, g)
    # Scaling up what nearly cancels would make beta huge.
    cancels = together < each.sum(axis=-1) / 100
    largest = each == each.max(axis=-1, keepdims=True)
    beta = np.where(cancels[..., None] & largest, -beta, beta)
    together, _ = _mean_squares(alpha, beta, g)
    return beta / np.sqrt(np.maximum(together, np.finfo("float32").tiny))[..., None]


def _mean_squares(
    alpha: np.ndarray, beta: np.ndarray, g: Function
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean squares of f(z) - f(0) and of its units, z standard normal."""
    at_zero = evaluate(g, 0.0)
    together, each = np.zeros(alpha.shape[:-1]), np.zeros(alpha.shape)
    # Point by point: per-neuron functions are too many for an axis of points.
    for point, weight in zip(*np.polynomial.hermite_e.hermegauss(40), strict=True):
        units = beta * (evaluate(g, alpha * point) - at_zero)
        density = weight / np.sqrt(2 * np.pi)
        together += density * np.sum(units, axis=-1) ** 2
        each += density * units**2
    return together, each
