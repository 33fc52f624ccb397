"""`Place`, an activation in a model, and `NewActivation`, its replacement."""

from collections.abc import Callable
from typing import Any, NamedTuple

from keras_vaf.models.surgery.graphs import Node


class Place(NamedTuple):
    """An activation of a model.

    Args:
        activation: A layer, an operation or a function.
        layer: The layer that it is, or that applies it.
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
        layer: A layer, or another callable, that is called in its place.
        before: Name of the old activation for people.
        after: Name of the new activation for people.
        error: Largest difference between the two functions, if it was measured.
        nearest: The known function nearest to the old activation, if it was sought.
    """

    layer: Callable[..., Any]
    before: str
    after: str
    error: float | None = None
    nearest: str = ""


class KeptError(Exception):
    """The reason why an activation is kept."""
