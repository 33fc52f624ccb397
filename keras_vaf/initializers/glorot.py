"""`PortableGlorotUniform`, Glorot uniform weights that are equal on every backend."""

import math
from collections.abc import Sequence
from typing import Any

import keras

from keras_vaf.initializers.generator import generator
from keras_vaf.utils import check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class PortableGlorotUniform(keras.initializers.Initializer):
    """Glorot uniform weights, drawn with NumPy.

    Formula:

    ```
    limit = sqrt(6 / (fan_in + fan_out))
    ```

    `keras.initializers.GlorotUniform(seed)` draws different numbers on each backend.
    This initializer uses `numpy.random.default_rng(seed)`, so a network starts from the
    same weights on TensorFlow, JAX and PyTorch. Weights are uniform between -limit and
    limit. As with seeded Keras initializers, two calls with the same shape return the
    same weights, so give each layer a different seed.

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
        """Draw the weights.

        Args:
            shape: Shape of the weights, `(..., inputs, outputs)`. The axes before the
                last two are those of a convolution's window.
            dtype: Dtype of the weights. `None` means `keras.config.floatx()`.

        Returns:
            A tensor of the given shape.
        """
        window = math.prod(shape[:-2])
        fans = window * sum(shape[-2:]) if len(shape) > 1 else 2 * math.prod(shape)
        limit = math.sqrt(6 / max(fans, 1))
        weights = generator(self.seed).uniform(-limit, limit, tuple(shape))
        dtype = dtype or keras.config.floatx()
        return keras.ops.convert_to_tensor(weights.astype("float32"), dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"seed": self.seed}
