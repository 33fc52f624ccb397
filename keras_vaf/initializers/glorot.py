"""`PortableGlorotUniform`, Glorot uniform weights that are equal on every backend."""

import math
import random
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.utils import check_integer


def generator(seed: int | None) -> np.random.Generator:
    """Return a generator; for `None` a seed follows `keras.utils.set_random_seed`."""
    if seed is None:
        return np.random.default_rng(random.getrandbits(32))
    return np.random.default_rng(check_integer("seed", seed, minimum=0))


@keras.saving.register_keras_serializable(package="keras_vaf")
class PortableGlorotUniform(keras.initializers.Initializer):
    """Glorot uniform weights, drawn with NumPy.

    Formula:

    ```
    limit = sqrt(6 / (fan_in + fan_out))
    ```

    Weights are uniform between -limit and limit. `keras.initializers.GlorotUniform`
    draws different numbers on each backend, this initializer the same ones. As with
    seeded Keras initializers, give each layer a different seed.

    Args:
        seed: Non-negative integer. `None` draws a new seed in each call, which follows
            `keras.utils.set_random_seed`.

    Raises:
        ValueError: If the seed is neither a non-negative integer nor `None`.

    Example:

    >>> layer = keras.layers.Dense(2, kernel_initializer=PortableGlorotUniform(seed=1))
    """

    def __init__(self, seed: int | None = None) -> None:
        self.seed = None if seed is None else check_integer("seed", seed, minimum=0)

    def __call__(self, shape: Sequence[int], dtype: str | None = None) -> Any:
        """Return a tensor of a shape `(..., inputs, outputs)`; a window comes first."""
        window = math.prod(shape[:-2])
        fans = window * sum(shape[-2:]) if len(shape) > 1 else 2 * math.prod(shape)
        limit = math.sqrt(6 / max(fans, 1))
        weights = generator(self.seed).uniform(-limit, limit, tuple(shape))
        dtype = dtype or keras.config.floatx()
        return keras.ops.convert_to_tensor(weights.astype("float32"), dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"seed": self.seed}
