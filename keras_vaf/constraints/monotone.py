"""`Monotone`, a constraint that keeps a VAF non-decreasing."""

from typing import Any

import keras
from keras import ops

from keras_vaf.ops.activations import elementwise
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Monotone(keras.constraints.Constraint):
    """Keep a VAF non-decreasing: alpha_j * beta_j >= 0 for every hidden unit.

    Formula:

    ```
    beta_j = 0     for alpha_j * beta_j < 0
    ```

    Pass the constraint as `beta_constraint` to a `keras_vaf.layers.VAFActivation` with
    a non-decreasing g. After every step of the optimizer, beta is replaced by the
    nearest allowed value for the current alpha. Each hidden unit is then
    non-decreasing, and so is f.

    The condition is sufficient but not necessary: the constraint also excludes
    non-decreasing functions that have a decreasing unit. A random start may be
    decreasing until the first step. A non-decreasing start, such as `"relu"` or
    `"leaky_relu"`, is not changed. A unit with beta = 0 can become active again,
    because its beta still has a gradient.

    Raises:
        ValueError: If the constraint is used for another weight or layer, or if g
            decreases somewhere (gelu, hard_silu, mish, silu, cos and sin do). Any other
            function is assumed to be non-decreasing, such as a registered one.

    Example:

    >>> layer = keras_vaf.layers.VAFActivation(
    ...     initialization="relu", beta_constraint=Monotone()
    ... )
    >>> beta, alpha = keras.ops.array([[-1.0, -1.0], [2.0, -2.0]])
    >>> nearest = Monotone()(beta, alpha)
    >>> print(keras.ops.convert_to_numpy(nearest))
    [ 0. -1.]
    """

    def __call__(self, beta: Tensor, alpha: Tensor) -> Tensor:
        """Return the nearest beta for which every unit is non-decreasing."""
        beta = ops.convert_to_tensor(beta)
        return ops.where(alpha * beta < 0, ops.zeros_like(beta), beta)

    def of(self, layer: Any, weight: str) -> keras.constraints.Constraint:
        """Return the constraint on a weight of a given layer."""
        g = getattr(layer, "g", None)
        slopes = None if g is None else elementwise(g).slopes
        falls = slopes is not None and slopes.lowest < 0
        if weight != "beta" or g is None or falls:
            raise ValueError(
                "Monotone is for `beta_constraint` of a VAFActivation with a "
                f"non-decreasing g. Received: {weight}_constraint of {layer!r} with "
                f"g={g!r}"
            )
        return _GivenAlpha(self, layer)


class _GivenAlpha(keras.constraints.Constraint):
    """The constraint on the beta of a given layer."""

    def __init__(self, constraint: Monotone, layer: Any) -> None:
        self.constraint = constraint
        self.layer = layer

    def __call__(self, beta: Tensor) -> Tensor:
        return self.constraint(beta, self.layer.full_weight("alpha"))
