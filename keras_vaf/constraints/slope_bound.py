"""`SlopeBound`, a hard bound on the slope of a VAF."""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.constraints.function_constraint import FunctionConstraint
from keras_vaf.ops.slope_bound import check_slopes, slope_bound, steepest_lines
from keras_vaf.types import Tensor
from keras_vaf.utils import check_choice, check_positive

SCALINGS = ("function", "unit")


@keras.saving.register_keras_serializable(package="keras_vaf")
class SlopeBound(FunctionConstraint):
    """Keep the slope of a VAF within a limit: |f'(x)| <= limit for every x.

    Formula:

    ```
    beta = beta * limit / slope     for slope > limit
    ```

    Pass the constraint as `function_constraint` to a `keras_vaf.layers.VAFActivation`.
    If the slope exceeds the limit, beta is multiplied by `limit / slope`, with a margin
    for rounding. For a piecewise-linear g, the slope is that of the steepest line of f.
    For any other g it is an upper bound on the slope (see
    `keras_vaf.regularizers.lipschitz_bound`).

    The layer always computes with the rescaled beta, also after `set_weights`, with a
    frozen beta, and with the averaged weights of `use_ema`. Keras optimizers store the
    rescaled beta after every step. After a step of `torch.optim`, call
    `layer.apply_constraints()`, which stores the rescaled beta without changing the
    function.

    Args:
        limit: Largest allowed slope, above 0.
        scaling: `"function"` rescales all hidden units equally, which keeps the shape
            of f. `"unit"` first rescales each unit by the steepest line of f on which
            the unit acts. With g = relu, lines within the limit then often keep their
            slopes. For a g without straight lines, both are equal.

    Raises:
        ValueError: If an argument is out of its range, if the layer is not a
            `VAFActivation`, or if the slope of g is unbounded (exponential,
            hard_shrink, relu_squared, square).

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(
    ...     g="gelu", function_constraint=SlopeBound(1.0)
    ... )
    >>> print(f"{keras_vaf.regularizers.lipschitz_bound(layer):.4f}")
    1.0000
    """

    layers = ("VAFActivation",)
    changes = ("beta",)

    def __init__(self, limit: float = 1.0, scaling: str = "function") -> None:
        self.limit = check_positive("limit", limit)
        self.scaling = check_choice("scaling", scaling, SCALINGS)

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if a layer has no bound."""
        super().check_layer(layer)
        check_slopes(layer.g)

    def project(self, layer: Any, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return beta, rescaled for functions that are too steep."""
        precision = "float64" if layer.variable_dtype == "float64" else "float32"
        alpha, alpha_bias, beta = (
            ops.convert_to_tensor(weights[name])
            for name in ("alpha", "alpha_bias", "beta")
        )
        eps = float(np.finfo(precision).eps)
        if self.scaling == "unit":
            lines = steepest_lines(layer.g, alpha, alpha_bias, beta)
            # Rounding errors are left to the second step, which bounds them.
            steep = lines > self.limit * (1 + 32 * eps)
            divisor = ops.where(steep, lines, ops.full_like(lines, self.limit))
            beta = beta * ops.stop_gradient(self.limit / divisor)
        bound = slope_bound(layer.g, alpha, alpha_bias, beta, precision)
        # Use twice the error, so that the next projection changes nothing.
        reached = bound.value * (1 + 4 * eps) + 2 * bound.error
        steep = bound.value + bound.error > self.limit
        divisor = ops.where(steep, reached, ops.ones_like(reached))
        factor = ops.where(steep, self.limit / divisor, ops.ones_like(divisor))
        return {"beta": beta * ops.stop_gradient(factor)[..., None]}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"limit": self.limit, "scaling": self.scaling}
