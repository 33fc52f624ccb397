"""`ActivationEnsemble`, a convex sum of normalized fixed activations."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.constraints import Simplex
from keras_vaf.layers.family.abu import get_functions
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.ops.functions import Function, evaluate
from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


@keras.saving.register_keras_serializable(package="keras_vaf")
class ActivationEnsemble(TrainableActivation):
    """Activation ensemble: a convex sum of fixed activations, each scaled to [0, 1].

    Formula:

    ```
    f(a) = sum_{j=1..m} alpha_j * (eta_j * h_j(a) + delta_j)
    h_j(a) = (functions_j(a) - minimum_j) / (maximum_j - minimum_j)
    ```

    `minimum` and `maximum` are running means of the smallest and largest value of each
    function in a batch. Training updates them, unless `trainable` of the layer is
    False. By default `alpha_constraint` keeps alpha on the simplex: no value is
    negative, and their sum is 1. alpha starts at 1/m, eta at 1 and delta at 0.
    `minimum` and `maximum` start at the extremes of the functions on [-3, 3].

    Args:
        functions: The m fixed activations: names of element-wise Keras activations, or
            registered functions of one tensor.
        momentum: Weight of the previous `minimum` and `maximum` in their update, from 0
            to 1.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `alpha`, `eta`, `delta`, `minimum` and `maximum`, all of shape `(*unshared, m)`.
        `minimum` and `maximum` are not trained.

    Reference:
        [Harmon and Klabjan, *Activation ensembles for deep neural networks*,
        2017](https://arxiv.org/abs/1702.07790). Three things differ in the paper.
        During training it uses the extremes of the current batch; here f is a function
        of a alone, and no gradient passes through the extremes. It shares eta and delta
        in a layer, however alpha is shared. It varies the set of functions.

    Example:

    >>> layer = ActivationEnsemble(functions=("relu", "sigmoid"), sharing="layer")
    >>> print(layer.function([0]).round(3))
    [0.25]
    """

    equation_fields = ("functions",)
    default_sharing = "channel"
    non_trainable_weight_names = ("minimum", "maximum")
    default_constraints = (("alpha", Simplex()),)

    def __init__(
        self,
        functions: Sequence[str | Function] = ("sigmoid", "tanh", "relu", "elu"),
        momentum: float = 0.9,
        **kwargs: Any,
    ) -> None:
        self.functions = get_functions(functions)
        if check_number("momentum", momentum, minimum=0) > 1:
            raise ValueError(
                "`momentum` must be a number between 0 and 1. "
                f"Received: momentum={momentum!r}"
            )
        self.momentum = momentum
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        x = np.linspace(-3, 3, 601)
        curves = np.array([evaluate(function, x) for function in self.functions])
        low, high = curves.min(axis=1), curves.max(axis=1)
        values = (1 / len(curves), 1.0, 0.0, low, high)
        return [np.broadcast_to(v, (*unshared, len(curves))) for v in values]

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if training and self.trainable:
            self._measure(inputs)
        return super().call(inputs, training)

    def _measure(self, inputs: Tensor) -> None:
        """Move `minimum` and `maximum` towards the extremes of this batch."""
        if 0 in tuple(inputs.shape):
            return
        x = ops.stop_gradient(ops.cast(inputs, self.minimum.dtype))
        # A program compiled for any batch size may receive an empty batch.
        found_any = ops.size(x) > 0
        shared = [axis for axis in range(x.ndim) if axis not in self._unshared_axes]
        for weight, extreme in ((self.minimum, ops.min), (self.maximum, ops.max)):
            found = [extreme(function(x), axis=shared) for function in self.functions]
            new = ops.stack(found, axis=-1)
            moved = self.momentum * weight + (1 - self.momentum) * new
            weight.assign(ops.where(found_any, moved, weight.value))

    def value(
        self,
        x: Tensor,
        alpha: Parameter,
        eta: Parameter,
        delta: Parameter,
        minimum: Parameter,
        maximum: Parameter,
    ) -> Tensor:
        y = 0.0
        for j, function in enumerate(self.functions):
            h = (function(x) - minimum[j]) / (maximum[j] - minimum[j] + 1e-6)
            y = y + alpha[j] * (eta[j] * h + delta[j])
        return y
