"""Private members of Keras that this package reads, each with the reason.

Keras has no public counterpart for them. All other modules call these functions.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras


def inner_layers(layer: Any) -> list[keras.layers.Layer]:
    """Return the layers that a layer holds directly.

    The public `layers` exists for models only.
    """
    found: list[keras.layers.Layer] = layer._layers
    return found


def all_layers(layer: Any, include_self: bool = True) -> list[keras.layers.Layer]:
    """Return all layers inside a layer, at any depth, as Keras lists them.

    `Model.layers` leaves out the layers inside other layers.
    """
    return list(layer._flatten_layers(include_self=include_self))


def own_variables(layer: Any) -> list[keras.Variable]:
    """Return the variables of a layer without those of its inner layers.

    `Layer.variables` includes them, and leaves out those that are frozen from outside.
    """
    return [*layer._trainable_variables, *layer._non_trainable_variables]


def outermost(layer: Any) -> keras.layers.Layer:
    """Return the layer whose call is running, such as a model; else the layer itself.

    Keras creates the context of a call where it is missing, which is undone here.
    """
    found: keras.layers.Layer = layer._get_call_context().entry_layer
    layer._maybe_reset_call_context()
    return found


def history(tensor: Any) -> tuple[Any, Any, int]:
    """Return the operation that made a symbolic tensor, its node, and its position.

    Keras publishes the layers of a graph, but not its edges. The operation of a tensor
    without history is `None`, and so is the node of an input.
    """
    found = getattr(tensor, "_keras_history", None)
    if found is None or found.operation is None:
        return None, None, 0
    node = found.operation._inbound_nodes[found.node_index]
    return found.operation, None if node.is_input else node, found.tensor_index


@contextlib.contextmanager
def unlocked(layer: Any) -> Iterator[None]:
    """Let the attributes of a built layer change, which Keras locks."""
    locked = layer._tracker.locked
    layer._tracker.unlock()
    yield
    if locked:
        layer._tracker.lock()


def untrack(layer: Any, part: keras.layers.Layer) -> None:
    """Let a layer forget a layer that it holds, so that it is not saved."""
    layer._tracker.untrack(part)
