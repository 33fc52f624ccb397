"""`KAF`, the kernel activation function: a sum of Gaussians at fixed points."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.constraints import Interval
from keras_vaf.initializers.glorot import generator
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.ops.functions import Function, evaluate, get_function, stored_form
from keras_vaf.types import Tensor
from keras_vaf.utils import MOST_UNITS, check_flag, check_integer, check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class KAF(TrainableActivation):
    """Kernel activation function: a sum of Gaussians at fixed points.

    Formula:

    ```
    f(a) = sum_{i=1..D} alpha_i * exp(-gamma * (a - d_i)^2)
    gamma = 1 / (6 * step^2)
    ```

    The points d_i, called the dictionary, are evenly spaced from -boundary to boundary.
    Far outside of this interval f is 0.

    Args:
        D: Number of points.
        boundary: Position of the last point; the first point is at -boundary.
        initialization: Function at which f starts. `"random"` draws alpha from a normal
            distribution with standard deviation 0.3. For the name of an element-wise
            Keras activation (`"tanh"`) or a registered function, kernel ridge
            regression at the points of the dictionary fits alpha to that function.
        train_gamma: Whether gamma is trained, as a weight that is kept at 0.001 or
            more.
        seed: Integer seed of a random start, which is equal on all backends. `None`
            draws a seed that follows `keras.utils.set_random_seed`.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `alpha` of shape `(*unshared, D)` and, if `train_gamma` is true, `gamma` of
        shape `unshared`.

    Reference:
        [Scardapane et al., *Kafnets: kernel-based non-parametric activation functions
        for neural networks*, 2019](https://doi.org/10.1016/j.neunet.2018.11.002),
        section 3. The default D, boundary and random start are those of the authors'
        code. Their code uses gamma = 1 / (8 step^2) instead.

    Example:

    >>> model = keras.Sequential(
    ...     [keras.Input((20,)), keras.layers.Dense(16), KAF(D=10)]
    ... )
    >>> model.layers[1].count_params()
    160
    """

    equation_fields = ("dictionary", "fixed_gamma")
    default_sharing = "channel"
    default_constraints = (("gamma", Interval(0.001)),)

    def __init__(
        self,
        D: int = 20,
        boundary: float = 3.0,
        initialization: str | Function = "random",
        train_gamma: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        self.train_gamma = check_flag("train_gamma", train_gamma)
        if train_gamma:
            self.weight_names = ("alpha", "gamma")
        self.D = check_integer("D", D, 2, MOST_UNITS)
        self.boundary = check_number("boundary", boundary, 1e-15, below=1e15)
        self.initialization = stored_form(initialization, "initialization", ("random",))
        self.seed = seed
        self._generator = generator(seed)
        self.dictionary = tuple(np.linspace(-boundary, boundary, D).tolist())
        step = 2 * boundary / (D - 1)
        self.gamma = self.fixed_gamma = 1 / (6 * step**2)
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        shape = (*unshared, self.D)
        if self.initialization == "random":
            alpha = self._generator.normal(0, 0.3, shape)
        else:
            alpha = np.broadcast_to(self._ridge_regression(), shape)
        return (alpha, np.full(unshared, self.fixed_gamma))[: len(self.weight_names)]

    def _ridge_regression(self) -> np.ndarray:
        function = get_function(self.initialization, "initialization")
        target = evaluate(function, self.dictionary)
        distances = np.subtract.outer(self.dictionary, self.dictionary)
        kernel = np.exp(-self.fixed_gamma * distances**2)
        return np.linalg.solve(kernel + 1e-5 * np.eye(self.D), target)

    def value(self, x: Tensor, alpha: Parameter, gamma: Tensor | None = None) -> Tensor:
        scale = -(self.fixed_gamma if gamma is None else gamma)
        points = zip(alpha, self.dictionary, strict=True)
        return sum(a * ops.exp(scale * ops.square(x - point)) for a, point in points)
