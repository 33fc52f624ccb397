"""`SirenKernel`, which draws the kernels of networks whose activation is sin."""

import math
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.utils import check_integer, check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class SirenKernel(keras.initializers.Initializer):
    """Uniform kernels for `VAFActivation(g="sin")`, initialized as in SIREN.

    Formula:

    ```
    limit = omega / n     (first layer)
    limit = sqrt(6 / n)     (other layers)
    ```

    SIREN computes sin(omega (W x + b)). Here omega is part of the kernel, so the
    activation is plain sin. With n inputs in [-1, 1], kernels are uniform between
    -limit and limit. The limit of the other layers keeps the scale of the signal.

    Args:
        omega: Scale of the first layer. A larger omega lets the network start with
            finer details. Use 0 for all other layers.
        seed: Non-negative integer. Give each layer a different seed.

    Raises:
        ValueError: If an argument is out of its range.

    Reference:
        [Sitzmann et al., *Implicit neural representations with periodic activation
        functions*, 2020](https://arxiv.org/abs/2006.09661).

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((2,)),
    ...     keras.layers.Dense(48, kernel_initializer=SirenKernel(omega=30, seed=0)),
    ...     keras_vaf.layers.VAFActivation(g="sin"),
    ...     keras.layers.Dense(48, kernel_initializer=SirenKernel(seed=1)),
    ...     keras_vaf.layers.VAFActivation(g="sin"),
    ...     keras.layers.Dense(3, kernel_initializer=SirenKernel(seed=2)),
    ... ])
    """

    def __init__(self, omega: float = 0.0, seed: int = 0) -> None:
        self.omega = check_number("omega", omega, minimum=0)
        self.seed = check_integer("seed", seed, minimum=0)

    def __call__(self, shape: Sequence[int], dtype: str | None = None) -> Any:
        """Draw the weights of a kernel of shape `(..., inputs, outputs)`."""
        inputs = max(math.prod(shape[:-1]), 1)
        limit = self.omega / inputs if self.omega else math.sqrt(6 / inputs)
        weights = np.random.default_rng(self.seed).uniform(-limit, limit, tuple(shape))
        dtype = dtype or keras.config.floatx()
        return keras.ops.convert_to_tensor(weights.astype("float32"), dtype=dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"omega": self.omega, "seed": self.seed}
