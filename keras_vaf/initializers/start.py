"""The base classes of all starts of a VAF."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from keras_vaf.ops.functions import Function, evaluate, get_function

Values = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""alpha, alpha_bias, beta and beta_bias."""


class Start:
    """Start values of the four weights of a VAF.

    Unlike a `keras.initializers.Initializer`, a start sets the four weights together,
    because only together do they make a function. A start of your own defines
    `__call__` and `get_config`, and is registered with
    `keras.saving.register_keras_serializable`.

    Example:

    >>> alpha, alpha_bias, beta, beta_bias = RandomStart(seed=0)(
    ...     (8,), k=3, g=keras.activations.relu
    ... )
    >>> alpha.shape, beta_bias.shape
    ((8, 3), (8,))
    """

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Start values of every function of a layer.

        Args:
            unshared: Sizes of the axes along which functions differ; `()` for one
                function.
            k: Number of hidden units.
            g: Fixed function of the hidden units.

        Returns:
            Float64 arrays: alpha, alpha_bias and beta of shape `(*unshared, k)`,
            beta_bias of shape `unshared`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `__call__`.")

    def get_config(self) -> dict[str, Any]:
        """Arguments of the constructor."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Make a start from its configuration."""
        return cls(**config)


class KnownStart(Start):
    """A start at a known function, the same for all functions of a layer.

    Subclasses define `target` and `units`.
    """

    def target(self, x: np.ndarray) -> np.ndarray:
        """The function to start at, in float64."""
        raise NotImplementedError(f"{type(self).__name__} must define `target`.")

    def units(self, k: int, g: Function) -> Values:
        """Start values of one function, of shapes `(k,)`, `(k,)`, `(k,)` and `()`."""
        raise NotImplementedError(f"{type(self).__name__} must define `units`.")

    def __call__(self, unshared: Sequence[int], k: int, g: Function) -> Values:
        """Start values of every function of a layer (see `Start`)."""
        alpha, alpha_bias, beta, beta_bias = self.units(k, g)
        each, units = tuple(unshared), (*unshared, k)
        return (
            np.broadcast_to(alpha, units),
            np.broadcast_to(alpha_bias, units),
            np.broadcast_to(beta, units),
            np.broadcast_to(beta_bias, each),
        )

    def error(self, k: int, g: str | Function = "relu") -> float:
        """Largest distance, on [-5, 5], of the first function from the known one.

        Args:
            k: Number of hidden units.
            g: Fixed function of the hidden units.

        Returns:
            The largest error. It is 0, rounding apart, where the start is exact.

        Example:

        >>> FunctionStart("relu").error(k=3, g="relu")
        0.0
        """
        g = get_function(g, "g")
        x = np.linspace(-5, 5, 2001)
        alpha, alpha_bias, beta, beta_bias = self.units(k, g)
        first = evaluate(g, x[:, None] * alpha + alpha_bias) @ beta + beta_bias
        return float(np.max(np.abs(first - self.target(x))))
