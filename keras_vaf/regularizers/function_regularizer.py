"""`FunctionRegularizer`, the base class of penalties on a learned function."""

from typing import Any, ClassVar

import keras

from keras_vaf.types import Tensor
from keras_vaf.utils import check_number


class FunctionRegularizer(keras.regularizers.Regularizer):
    """A penalty on the function that a layer has learned, times a factor.

    It is given to a trainable activation as `function_regularizer`. A subclass sets
    `layers`, the names of the classes that it is for, and defines `penalty(layer)`.

    Args:
        factor: Weight of the penalty, 0 or more.

    Raises:
        ValueError: If the factor is not such a number, or if the layer is of another
            class.
    """

    layers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, factor: float = 0.001) -> None:
        self.factor = check_number("factor", factor, minimum=0)

    def check_layer(self, layer: Any) -> None:
        """Raise a `ValueError` if the penalty is not for a layer."""
        if not {kind.__name__ for kind in type(layer).__mro__} & {*self.layers}:
            raise ValueError(
                f"{type(self).__name__} is a penalty on the function of a "
                f"{' or '.join(self.layers)}. Received: {layer!r}"
            )

    def penalty(self, layer: Any) -> Tensor:
        """Return the penalty of a layer that has its weights, before the factor."""
        raise NotImplementedError(f"{type(self).__name__} must define `penalty`.")

    def __call__(self, layer: Any) -> Tensor:
        """Return the penalty of a layer, times the factor."""
        self.check_layer(layer)
        return self.factor * self.penalty(layer)

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"factor": self.factor}
