"""`inspect_activations`, which lists the learned functions of a model."""

from typing import NamedTuple

import keras

from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.sharing import AnySharing
from keras_vaf.models.analysis.fixed_activations import label
from keras_vaf.models.analysis.nearest import KnownFunction, nearest


class InspectedActivation(NamedTuple):
    """A trainable activation of a model.

    Attributes:
        path: Path of the layer in the model.
        activation: Class of the layer, with k and g if it is a VAF.
        sharing: Elements that share a function.
        parameters: Number of parameters.
        nearest: The known function nearest to the learned one.
    """

    path: str
    activation: str
    sharing: AnySharing
    parameters: int
    nearest: KnownFunction


def inspect_activations(model: keras.Model) -> list[InspectedActivation]:
    """Return the trainable activations of a model with their nearest known functions.

    Args:
        model: A model with weights.

    Raises:
        ValueError: If the model has no trainable activation.

    Example:

    >>> model = keras.Sequential([keras.Input((2,)), keras_vaf.layers.VAFActivation()])
    >>> [found.parameters for found in inspect_activations(model)]
    [10]
    """
    return [
        InspectedActivation(
            path, label(layer), layer.sharing, layer.count_params(), nearest(layer)
        )
        for path, layer in trainable_activations(model).items()
    ]
