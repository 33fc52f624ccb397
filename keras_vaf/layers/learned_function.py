"""`LearnedFunction`, the function that a trainable activation computes."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.shared_weights import SharedWeights
from keras_vaf.ops import Pointwise
from keras_vaf.ops.functions import evaluate
from keras_vaf.ops.layout import Layout
from keras_vaf.types import Tensor


class LearnedFunction(SharedWeights):
    """The part of `TrainableActivation` that tells which function a layer computes.

    Only this class reads the stored weights. All other code reads the effective
    weights, with one entry for each function.
    """

    equation_class: type[Pointwise]
    _fields: tuple[str, ...] = ()

    @property
    def equation(self) -> Pointwise:
        """The function, configured by the layer's arguments."""
        return self.equation_class(*[getattr(self, name) for name in self._fields])

    def effective_weights(self) -> Sequence[Tensor]:
        """Return the weights with which the layer computes, as tensors.

        They are in the order of `weight_names`, with one entry for each function. They
        differ from `weights` if `sharing` is a dictionary. Penalties and other
        differentiable code use these tensors.

        Raises:
            ValueError: If the layer has no weights yet.
        """
        if not hasattr(self, self.weight_names[0]):
            raise ValueError(
                f"The layer {self.name!r} has no weights yet; build it, or call it on "
                "an input, first."
            )
        weights: Sequence[Tensor] = [getattr(self, name) for name in self.weight_names]
        if self._positions:
            weights = [self.full_weight(name) for name in self.weight_names]
        return weights

    def get_effective_weights(self) -> list[np.ndarray]:
        """Return the weights with which the layer computes, as float64 NumPy arrays.

        They are in the order of `weight_names`.

        Raises:
            ValueError: If the layer has no weights yet.

        Example:

        >>> layer = keras_vaf.layers.VAFActivation(k=1)
        >>> alpha, alpha_bias, beta, beta_bias = layer.get_effective_weights()
        >>> print(beta)
        [1.]
        """
        arrays = map(keras.ops.convert_to_numpy, self.effective_weights())
        return [array.astype("float64") for array in arrays]

    def function(self, x: Any) -> np.ndarray:
        """Return values of the learned function as a NumPy array.

        Args:
            x: Number or array of any shape.

        Returns:
            f(x) of all functions, as a float64 array of shape `(*x.shape, *unshared)`.

        Raises:
            ValueError: If the layer has no weights yet.

        Example:

        >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
        >>> print(layer.function([-1, 0, 2]))
        [0. 0. 2.]
        """
        weights = self.get_effective_weights()
        x = np.asarray(x, "float64")
        count = len(self._unshared_axes)
        rank = x.ndim + count
        layout = Layout(rank, tuple(range(x.ndim, rank)))

        def value(x: Tensor, *weights: Tensor) -> Tensor:
            return self.equation.value(x, *map(layout.align, weights))

        y = evaluate(value, x.reshape((*x.shape, *[1] * count)), *weights)
        return np.broadcast_to(y, (*x.shape, *weights[-1].shape[:count])).copy()
