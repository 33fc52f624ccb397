"""Adaptive blending units."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.validation import check_functions
from keras_vaf.ops import family as equations
from keras_vaf.ops.functions import Function, function_identifier
from keras_vaf.types import Tensor


def _divided(weights: list[Tensor], total: Tensor) -> list[Tensor]:
    return [weight / total for weight in weights]


def _by_sum(weights: list[Tensor]) -> list[Tensor]:
    return _divided(weights, sum(weights))


def _softmax(weights: list[Tensor]) -> list[Tensor]:
    largest = functools.reduce(ops.maximum, weights)
    return _by_sum([ops.exp(weight - largest) for weight in weights])


_NORMALIZATIONS: dict[str | None, Callable[[list[Tensor]], list[Tensor]]] = {
    None: list,
    "sum": _by_sum,
    "absolute": lambda weights: _divided(weights, sum(map(ops.abs, weights))),
    "positive": lambda weights: _by_sum([ops.maximum(w, 1e-4) for w in weights]),
    "softmax": _softmax,
}


@keras.saving.register_keras_serializable(package="keras_vaf")
class ABU(TrainableActivation):
    """Adaptive blending unit: a weighted sum of fixed activations.

    Formula:

    ```
    f(a) = sum_{i=1..n} w_i * functions_i(a)
    ```

    where w is made of the trained alpha by one of the paper's normalizations:

    | `normalization` | w_i | in the paper |
    |---|---|---|
    | `None` | alpha_i | ABU |
    | `"sum"` | alpha_i / sum_j alpha_j | normalized |
    | `"absolute"` | alpha_i / sum_j abs(alpha_j) | absolute normalized |
    | `"positive"` | as `"sum"`, of max(alpha_j, 0.0001) | positive normalized |
    | `"softmax"` | exp(alpha_i) / sum_j exp(alpha_j) | softmax normalized |

    alpha starts at 1/n.

    Args:
        functions: The fixed activations, n of them: names of element-wise Keras
            activations, or registered functions of one tensor.
        normalization: One of the names above, or `None`.
        sharing: As for `TrainableActivation`. As in the paper, a layer shares one
            function.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `alpha` of shape `(*unshared, n)`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Sütfeld et al., *Adaptive blending units: trainable activation functions for
        deep neural networks*, 2018](https://arxiv.org/abs/1806.10064). Its code trains
        the beta of swish, x sigmoid(beta x), as well; here swish is Keras's, of beta 1.

    Example:

    >>> layer = ABU(functions=("relu", "linear"))
    >>> print(layer.function([-2, 2]))
    [-1.  2.]
    """

    parameters = ("alpha",)

    def __init__(
        self,
        functions: Sequence[str | Function] = ("tanh", "elu", "relu", "linear", "silu"),
        normalization: str | None = None,
        sharing: str | Sequence[int] = "layer",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.functions = check_functions(functions)
        if normalization not in _NORMALIZATIONS:
            names = ", ".join(map(repr, _NORMALIZATIONS))
            raise ValueError(
                f"`normalization` must be one of {names}. "
                f"Received: normalization={normalization!r}"
            )
        self.normalization = normalization
        self.add_layer_weights()

    @property
    def equation(self) -> equations.Blend:
        """What the layer computes."""
        return equations.Blend(self.functions, _NORMALIZATIONS[self.normalization])

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of alpha."""
        count = len(self.functions)
        return (np.full((*unshared, count), 1 / count),)

    def get_config(self) -> dict[str, Any]:
        names = [function_identifier(f, "functions") for f in self.functions]
        return {**super().get_config(), "functions": names}
