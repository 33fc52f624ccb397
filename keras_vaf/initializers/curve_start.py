"""`CurveStart`, which starts a VAF at the function of another VAF."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.initializers.fitting.fits import fit
from keras_vaf.initializers.start import KnownStart, Values
from keras_vaf.initializers.units import Carrier, carry
from keras_vaf.ops.functions import (
    Function,
    evaluate,
    function_identifier,
    get_function,
)
from keras_vaf.utils import check_number, check_numbers


@keras.saving.register_keras_serializable(package="keras_vaf")
class CurveStart(KnownStart):
    """Start at the function of another VAF, given by its weights.

    Formula:

    ```
    f(a) = sum_{j=1..k} beta_j * g(alpha_j * a + alpha_bias_j) + beta_bias
    ```

    The start is exact if the new VAF has the same g and at least as many hidden units
    as the old VAF has units that affect its function. Further units are spare: they do
    not change the function, but can learn. In all other cases the function is fitted,
    and `error` returns the error of the fit.

    Args:
        g: Fixed function of the old VAF's hidden units, as for a `VAFActivation`.
        alpha: Factor of the input, one per hidden unit.
        alpha_bias: Bias, one per hidden unit.
        beta: Factor of the output, one per hidden unit.
        beta_bias: Bias of the output, a single number.

    Raises:
        ValueError: If a number is not finite, if `alpha`, `alpha_bias` and `beta`
            differ in length, or if g is unknown.

    Example:

    >>> absolute = CurveStart("relu", alpha=(1, -1), alpha_bias=(0, 0), beta=(1, 1))
    >>> layer = keras_vaf.layers.VAFActivation(initialization=absolute)
    >>> print(layer.function([-2, 3]))
    [2. 3.]
    """

    def __init__(
        self,
        g: str | Function = "relu",
        alpha: Sequence[float] = (1.0,),
        alpha_bias: Sequence[float] = (0.0,),
        beta: Sequence[float] = (1.0,),
        beta_bias: float = 0.0,
    ) -> None:
        self.g = g
        self._g = get_function(g, "g")
        self.alpha = check_numbers("alpha", alpha)
        self.alpha_bias = check_numbers("alpha_bias", alpha_bias)
        self.beta = check_numbers("beta", beta)
        self.beta_bias = float(check_number("beta_bias", beta_bias))
        sizes = {len(self.alpha), len(self.alpha_bias), len(self.beta)}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(
                "A curve needs an `alpha`, `alpha_bias` and `beta` for each hidden "
                f"unit. Received: alpha={alpha}, alpha_bias={alpha_bias}, beta={beta}"
            )

    def target(self, x: np.ndarray) -> np.ndarray:
        """Return the values of the function to start at, in float64."""
        hidden = np.multiply.outer(x, self.alpha) + np.array(self.alpha_bias)
        return evaluate(self._g, hidden) @ np.array(self.beta) + self.beta_bias

    def units(self, k: int, g: Function) -> Values:
        """Return the start values of one function (see `KnownStart`)."""
        carriers, constant = self._carriers()
        if g is not self._g or k < len(carriers):
            return fit(self, k, g)
        return carry(carriers, constant, k, g, "CurveStart")

    def _carriers(self) -> tuple[list[Carrier], float]:
        """Return the units that are not constant, and the sum of the constant ones."""
        carriers, constant = [], self.beta_bias
        for unit in zip(self.alpha, self.alpha_bias, self.beta, strict=True):
            alpha, bias, beta = unit
            if alpha and beta:
                carriers.append(unit)
            elif beta:
                constant += beta * float(evaluate(self._g, bias))
        return carriers, constant

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "g": function_identifier(self.g, "g"),
            "alpha": self.alpha,
            "alpha_bias": self.alpha_bias,
            "beta": self.beta,
            "beta_bias": self.beta_bias,
        }
