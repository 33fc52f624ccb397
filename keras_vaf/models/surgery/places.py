"""`Place`, an activation in a model, and `NewActivation`, its replacement."""

from typing import Any, NamedTuple

import keras

from keras_vaf.models.surgery.graphs import Node


class Place(NamedTuple):
    """An activation of a model.

    Args:
        activation: A layer, an operation or a function.
        layer: The activation itself if it is a layer, or the layer that applies it.
        path: Path of this layer.
        recurrent: Whether it belongs to a recurrent layer.
        where: The slots of the activation in a built model, or the part of a
            configuration that contains it and the key there.
        name: Name for the new layer.
    """

    activation: Any
    layer: Node
    path: str
    recurrent: bool = False
    where: Any = None
    name: str = ""


class NewActivation(NamedTuple):
    """The replacement of an activation.

    Args:
        layer: A layer that is called in place of the old activation.
        before: Name of the old activation in reports.
        after: Name of the new activation in reports.
        error: Largest difference between the two functions, if it was measured.
        nearest: The known function nearest to the old activation, or `""` if it was not
            determined.
    """

    layer: keras.layers.Layer
    before: str
    after: str
    error: float | None = None
    nearest: str = ""


class KeptError(Exception):
    """The reason why an activation is kept."""
