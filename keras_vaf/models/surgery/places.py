"""`Place`, an activation in a model, and `NewActivation`, its replacement."""

from collections.abc import Callable
from typing import Any, NamedTuple

from keras_vaf.models.surgery.graphs import Node


class Place(NamedTuple):
    """An activation of a model.

    Args:
        activation: A layer, an operation or a function.
        layer: The activation itself if it is a layer, or the layer that applies it.
        path: Path of this layer.
        name: Name for the new layer.
        recurrent: Whether it belongs to a recurrent layer.
    """

    activation: Any
    layer: Node
    path: str
    name: str
    recurrent: bool = False


class NewActivation(NamedTuple):
    """The replacement of an activation.

    Args:
        layer: A layer or another callable that is called in place of the old
            activation.
        before: Name of the old activation in reports.
        after: Name of the new activation in reports.
        error: Largest difference between the two functions, if it was measured.
        nearest: The known function nearest to the old activation, or `""` if it was not
            determined.
    """

    layer: Callable[..., Any]
    before: str
    after: str
    error: float | None = None
    nearest: str = ""


class KeptError(Exception):
    """The reason why an activation is kept."""
