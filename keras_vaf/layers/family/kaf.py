"""Kernel activation functions."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.constraints import Interval
from keras_vaf.initializers.generator import generator
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.validation import check_flag, check_integer, check_positive
from keras_vaf.ops import family as equations
from keras_vaf.ops.functions import Function, evaluate, get_function


@keras.saving.register_keras_serializable(package="keras_vaf")
class KAF(TrainableActivation):
    """Kernel activation function: a sum of Gaussians at fixed points.

    Formula:

    ```
    f(a) = sum_{i=1..D} alpha_i * exp(-gamma * (a - d_i)^2)
    gamma = 1 / (6 * step^2)
    ```

    The points d_i, the dictionary, lie in equal steps from -boundary to boundary. Far
    outside f is 0.

    Args:
        D: Number of points.
        boundary: Place of the last point.
        initialization: How f starts: `"random"`, with alpha normal of standard
            deviation 0.3; or at the function of an element-wise Keras activation
            (`"tanh"`) or a registered function, to which alpha is fitted by kernel
            ridge regression at the points of the dictionary.
        train_gamma: Whether gamma is a weight. It is kept at 0.001 or more.
        seed: Integer from which a random start is drawn, equally on every backend.
            `None` draws a seed that follows `keras.utils.set_random_seed`.
        sharing: As for `TrainableActivation`. As in the paper there is one function for
            each unit of a dense layer and each filter of a convolution: `"channel"`.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `alpha` of shape `(*unshared, D)` and, if it is trained, `gamma` of shape
        `unshared`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Scardapane et al., *Kafnets: kernel-based non-parametric activation functions
        for neural networks*, 2019](https://doi.org/10.1016/j.neunet.2018.11.002),
        section 3. The authors' code has gamma = 1 / (8 step^2) instead; D, boundary and
        the random start here are those of their code.

    Example:

    >>> model = keras.Sequential(
    ...     [keras.Input((20,)), keras.layers.Dense(16), KAF(D=10)]
    ... )
    >>> model.layers[1].count_params()
    160
    """

    parameters: tuple[str, ...] = ("alpha",)

    def __init__(
        self,
        D: int = 20,
        boundary: float = 3.0,
        initialization: str | Function = "random",
        train_gamma: bool = False,
        seed: int | None = None,
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.train_gamma = check_flag("train_gamma", train_gamma)
        if train_gamma:
            self.parameters = ("alpha", "gamma")
            kwargs.setdefault("gamma_constraint", Interval(minimum=0.001))
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.D = check_integer("D", D, minimum=2)
        self.boundary = check_positive("boundary", boundary)
        self.initialization = initialization
        if initialization != "random":
            get_function(initialization, "initialization")
        self.seed = seed
        self.dictionary = tuple(np.linspace(-boundary, boundary, D).tolist())
        step = 2 * boundary / (D - 1)
        self.gamma = self._start_gamma = 1 / (6 * step**2)
        self._generator = generator(seed)
        self.add_layer_weights()

    @property
    def equation(self) -> equations.KAF:
        """What the layer computes."""
        gamma = None if self.train_gamma else self.gamma
        return equations.KAF(self.dictionary, gamma)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of alpha and, if it is trained, gamma."""
        shape = (*unshared, self.D)
        if self.initialization == "random":
            alpha = self._generator.normal(0, 0.3, shape)
        else:
            alpha = np.broadcast_to(self._ridge_regression(), shape)
        return (alpha, np.full(unshared, self._start_gamma))[: len(self.parameters)]

    def _ridge_regression(self) -> np.ndarray:
        function = get_function(self.initialization, "initialization")
        target = evaluate(function, self.dictionary)
        distances = np.subtract.outer(self.dictionary, self.dictionary)
        kernel = np.exp(-self._start_gamma * distances**2)
        return np.linalg.solve(kernel + 1e-5 * np.eye(self.D), target)
