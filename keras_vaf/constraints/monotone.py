"""`Monotone`, a constraint to functions that never fall."""

from typing import Any

import keras
from keras import ops

from keras_vaf.ops.activations import elementwise
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class Monotone(keras.constraints.Constraint):
    """Keep a VAF from falling: alpha_j * beta_j >= 0 for every hidden unit.

    The constraint is for `beta_constraint` of a `keras_vaf.layers.VAFActivation` whose
    g never falls. After every step of the optimizer it takes the nearest such beta for
    the present alpha. Each hidden unit then rises, and so does f.

    The condition is sufficient, not necessary: the constraint excludes functions that
    rise although one of their units falls. A function with a random start may fall
    until the first step. A function that starts at a rising one, such as `"relu"` or
    `"leaky_relu"`, is left as it is. A unit that is held at beta = 0 can come back,
    since its beta still has a gradient.

    Raises:
        ValueError: If it is given to another weight or layer, or if g falls somewhere
            (gelu, hard_silu, mish, silu, cos and sin do). A g without a name of its
            own is assumed never to fall.

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
        """Return the nearest beta for which no unit falls."""
        beta = ops.convert_to_tensor(beta)
        return ops.where(alpha * beta < 0, ops.zeros_like(beta), beta)

    def of(self, layer: Any, weight: str) -> keras.constraints.Constraint:
        """Return the constraint of a weight of a layer."""
        g = getattr(layer, "g", None)
        slopes = None if g is None else elementwise(g).slopes
        falls = slopes is not None and slopes.lowest < 0
        if weight != "beta" or g is None or falls:
            raise ValueError(
                "Monotone is for `beta_constraint` of a VAFActivation with a g that "
                f"never falls. Received: {weight}_constraint of {layer!r} with "
                f"g={g!r}"
            )
        return _GivenAlpha(self, layer)


class _GivenAlpha(keras.constraints.Constraint):
    """The constraint on the beta of a given layer."""

    def __init__(self, constraint: Monotone, layer: Any) -> None:
        self.constraint = constraint
        self.layer = layer

    def __call__(self, beta: Tensor) -> Tensor:
        return self.constraint(beta, self.layer.alpha)
