"""Private members of Keras that this package reads, each with the reason.

Keras has no public counterpart for them. All other modules call these functions.
"""

import contextlib
import itertools
import weakref
from collections.abc import Container, Iterator
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


def tell_apart(layer: Any) -> bool:
    """Give activations of one path numbers, and list their weights in all modules.

    Modules of PyTorch list weights by their paths. A layer such as `Dense` lists its
    weights when it is built, before the first call builds its activation. Keras creates
    the context of a call where it is missing, which is undone here.

    Returns:
        Whether a layer around this one is known, which contains the others.
    """
    on_torch = keras.backend.backend() == "torch"
    if on_torch:
        import torch

        if torch.compiler.is_compiling():
            return False
    outermost = layer._get_call_context().entry_layer
    layer._maybe_reset_call_context()
    if outermost is layer:
        return False
    inside = all_layers(outermost)
    places = [_place(each) for each in inside]
    same = [e for e, p in zip(inside, places, strict=True) if p == _place(layer)]
    numbered = numbered_names(_place(layer), places)
    for each in same[1:]:
        if hasattr(each, "weight_names"):
            place_weights(each, next(numbered))
    for each in inside if on_torch else ():
        each._track_variables()
    return True


def _place(layer: Any) -> str:
    """Return the path of a layer in the paths of its weights."""
    return next((w.path.rpartition("/")[0] for w in own_variables(layer)), "")


def numbered_names(name: str, taken: Container[str]) -> Iterator[str]:
    """Yield `name_1`, `name_2` and so on, without those that are taken."""
    names = (f"{name}_{number}" for number in itertools.count(1))
    return (each for each in names if each not in taken)


_LAYERS: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
"""Layers whose outer layers are unknown, by the paths of their weights."""


def place_weights(layer: Any, path: str | None = None) -> bool:
    """Give weights that were made before their outer layer was known unique paths.

    Modules of PyTorch list weights by their paths, one weight for each path. Without a
    known path, it includes the layers that are being built. Where none is, as while
    Keras loads a file, a number makes the path differ from those of other layers.
    """
    if path is None:
        probe = keras.layers.Identity(name=layer.name)
        probe.build(())  # a layer that is built here knows where it is
        path = str(probe.path)
        if path.startswith(layer.name) and _LAYERS.get(path, layer) is not layer:
            path = next(numbered_names(layer.name, _LAYERS))
        _LAYERS[path] = layer
    for weight in own_variables(layer):
        weight._path = f"{path}/{weight.name}"
    return True


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
    try:
        yield
    finally:
        if locked:
            layer._tracker.lock()


def untrack(layer: Any, part: keras.layers.Layer) -> None:
    """Let a layer forget a layer that it holds, so that it is not saved."""
    layer._tracker.untrack(part)


def needs_no_checks(layer: Any, x: Any) -> bool:
    """Return whether the checks of `keras.layers.Layer` would change nothing.

    On PyTorch, they take most of the time of a call with few elements: without them an
    LSTM takes 1.77 times the time of tanh in training, with them 2.17 times.
    """
    import torch

    return (
        type(x) is torch.Tensor
        and layer.built
        and layer.sharing == "layer"
        and x.ndim >= 2
        and keras.backend.standardize_dtype(x.dtype) == layer.input_dtype
        and layer.activity_regularizer is None
        and getattr(x, "_keras_mask", None) is None
    )
