"""`ABU`, the adaptive blending unit: a weighted sum of fixed activations."""

import functools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.functions import Function, get_function
from keras_vaf.types import Tensor
from keras_vaf.utils import check_choice

_NORMALIZATIONS = ("sum", "absolute", "positive", "softmax")


def _normalized(alpha: list[Tensor], normalization: str) -> list[Tensor]:
    """Return the weights of the functions."""
    if normalization == "positive":
        alpha = [ops.maximum(each, 1e-4) for each in alpha]
    elif normalization == "softmax":
        largest = functools.reduce(ops.maximum, alpha)
        alpha = [ops.exp(each - largest) for each in alpha]
    total = sum(map(ops.abs, alpha) if normalization == "absolute" else alpha)
    return [each / total for each in alpha]


def get_functions(functions: Sequence[str | Function]) -> tuple[Function, ...]:
    """Return the fixed functions that an activation combines."""
    if not isinstance(functions, tuple | list) or not functions:
        raise ValueError(
            "`functions` must be a tuple of functions, such as ('relu', 'tanh'). "
            f"Received: functions={functions!r}"
        )
    return tuple(get_function(function, "functions") for function in functions)


@keras.saving.register_keras_serializable(package="keras_vaf")
class ABU(TrainableActivation):
    """Adaptive blending unit: a weighted sum of fixed activations.

    Formula:

    ```
    f(a) = sum_{i=1..n} w_i * functions_i(a)
    ```

    where w follows from the trained alpha by one of the paper's normalizations:

    | `normalization` | w_i | in the paper |
    |---|---|---|
    | `None` | alpha_i | ABU |
    | `"sum"` | alpha_i / sum_j alpha_j | normalized |
    | `"absolute"` | alpha_i / sum_j abs(alpha_j) | absolute normalized |
    | `"positive"` | as `"sum"`, for max(alpha_j, 0.0001) | positive normalized |
    | `"softmax"` | exp(alpha_i) / sum_j exp(alpha_j) | softmax normalized |

    alpha starts at 1/n.

    Args:
        functions: The n fixed activations: names of element-wise Keras activations, or
            registered functions of one tensor.
        normalization: One of the names above, or `None`.
        **kwargs: Arguments of `TrainableActivation`.

    Weights:
        `alpha` of shape `(*unshared, n)`.

    Reference:
        [Sütfeld et al., *Adaptive blending units: trainable activation functions for
        deep neural networks*, 2018](https://arxiv.org/abs/1806.10064). The authors'
        code also trains the beta of swish, x sigmoid(beta x). Here swish is that of
        Keras, with beta = 1.

    Example:

    >>> layer = ABU(functions=("relu", "linear"))
    >>> print(layer.function([-2, 2]))
    [-1.  2.]
    """

    equation_fields = ("functions", "normalization")

    def __init__(
        self,
        functions: Sequence[str | Function] = ("tanh", "elu", "relu", "linear", "silu"),
        normalization: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.functions = get_functions(functions)
        if normalization is not None:
            check_choice("normalization", normalization, _NORMALIZATIONS)
        self.normalization = normalization
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        count = len(self.functions)
        return (np.full((*unshared, count), 1 / count),)

    def value(self, x: Tensor, alpha: list[Tensor]) -> Tensor:
        if self.normalization is not None:
            alpha = _normalized(alpha, self.normalization)
        pairs = zip(alpha, self.functions, strict=True)
        return sum(weight * function(x) for weight, function in pairs)
