"""`FunctionRegularizer`, the base class of penalties on a learned function."""

from typing import Any, ClassVar

import keras

from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


class FunctionRegularizer(keras.regularizers.Regularizer):
    """Base class of penalties on the function that a layer has learned.

    Pass a penalty to a trainable activation as `function_regularizer`. A subclass sets
    `layers`, the names of the layer classes that it supports, and defines
    `penalty(layer)`. The penalty is multiplied by `factor`.

    Args:
        factor: Weight of the penalty, 0 or more.
    """

    layers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, factor: float = 0.001) -> None:
        self.factor = check_number("factor", factor, minimum=0)

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if the penalty does not support a layer."""
        if not {kind.__name__ for kind in type(layer).__mro__} & {*self.layers}:
            raise ValueError(
                f"{type(self).__name__} is a penalty on the function of a "
                f"{' or '.join(self.layers)}. Received: {layer!r}"
            )

    def penalty(self, layer: Any) -> Tensor:
        """Return the penalty of a built layer, before multiplication by the factor."""
        raise NotImplementedError(f"{type(self).__name__} must define `penalty`.")

    def __call__(self, layer: Any) -> Tensor:
        """Return the penalty of a layer, times the factor."""
        self.check_layer(layer)
        return self.factor * self.penalty(layer)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {"factor": self.factor}
