"""`APL`, the adaptive piecewise-linear unit."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.initializers.glorot import generator
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.types import Tensor
from keras_vaf.utils import MOST_UNITS, check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class APL(TrainableActivation):
    """Adaptive piecewise-linear unit: a ReLU and S trained hinges.

    Formula:

    ```
    f(a) = relu(a) + sum_{s=1..S} slopes_s * relu(-a + hinges_s)
    ```

    Right of all hinges f(a) = relu(a). By default all positions of a filter share one
    function. The paper uses one function per position, `sharing="neuron"`, and an L2
    regularizer of 0.001 on both weights.

    Args:
        S: Number of hinges.
        seed: Integer seed of the start values, which are equal on all backends. Slopes
            are drawn uniformly from [-0.2, 0.2], hinges from a normal distribution with
            standard deviation 0.5. `None` draws a seed that follows
            `keras.utils.set_random_seed`.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `slopes` and `hinges` (the paper's a and b) of shape `(*unshared, S)`.

    Reference:
        [Agostinelli et al., *Learning activation functions to improve deep neural
        networks*, 2014](https://arxiv.org/abs/1412.6830), equation 1. The number of
        hinges and the start values are those of the authors' code.

    Example:

    >>> layer = APL(S=2, sharing="layer")
    >>> layer.set_weights([np.array([0.5, 0.0]), np.array([1.0, 0.0])])
    >>> print(layer.function([-1, 0, 2]))
    [1.  0.5 2. ]
    """

    default_sharing = "channel"

    def __init__(self, S: int = 5, seed: int | None = None, **kwargs: Any) -> None:
        self.S = check_integer("S", S, maximum=MOST_UNITS)
        self.seed = seed
        self._generator = generator(seed)
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        shape = (*unshared, self.S)
        slopes = self._generator.uniform(-0.2, 0.2, shape)
        return slopes, self._generator.normal(0, 0.5, shape)

    def value(self, x: Tensor, slopes: Parameter, hinges: Parameter) -> Tensor:
        y = ops.relu(x)
        for slope, hinge in zip(slopes, hinges, strict=True):
            y = y + slope * ops.relu(hinge - x)
        return y
