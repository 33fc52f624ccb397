"""Which layers of a model are meant."""

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras

from keras_vaf.models.surgery.cloning import Node, is_graph

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""

# Layers that move elements and leave their values: what acts before them acts on the
# output.
_MOVING = (
    keras.layers.Flatten,
    keras.layers.Identity,
    keras.layers.Permute,
    keras.layers.Reshape,
)


class Selection:
    """What a user chose.

    Args:
        layers: A selector or a sequence of them; `None` for everything.

    Raises:
        ValueError: If it is none of these.
    """

    def __init__(self, layers: Selector | Sequence[Selector] | None) -> None:
        several = isinstance(layers, tuple | list)
        self._selectors: list[Any] = list(layers) if several else [layers]  # type: ignore
        self._fitting: set[str] = set()
        known = (
            selector is None or isinstance(selector, str) or callable(selector)
            for selector in self._selectors
        )
        if not all(known):
            raise ValueError(
                "`layers` must be names or patterns of names, classes of layers, or "
                f"functions of a layer. Received: layers={layers!r}"
            )

    def takes(self, layer: Node, path: str) -> bool:
        """Tell whether a layer is chosen."""
        fits = [self._fits(selector, layer, path) for selector in self._selectors]
        return any(fits)

    def names(self, layer: Node, path: str) -> bool:
        """Tell whether a layer is chosen by its full name."""
        return bool({layer.name, path} & set(self._strings()))

    def _fits(self, selector: Any, layer: Node, path: str) -> bool:
        if selector is None:
            return True
        if isinstance(selector, type):
            return isinstance(layer, selector)
        if not isinstance(selector, str):
            return bool(selector(layer))
        if layer.name != selector and not fnmatch.fnmatchcase(path, selector):
            return False
        self._fitting.add(selector)
        return True

    def _strings(self) -> list[str]:
        return [selector for selector in self._selectors if isinstance(selector, str)]

    def check(self, model: keras.Model) -> None:
        """Raise a `ValueError` for a name that has fitted no layer."""
        for selector in self._strings():
            if selector not in self._fitting:
                names = ", ".join(layer.name for layer in layers_of(model))
                raise ValueError(
                    f"`layers` names no layer of the model, which has {names}. "
                    f"Received: {selector!r}"
                )


def layers_of(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """Yield the layers of a model and of the models inside it."""
    for layer in model.layers:
        yield layer
        if is_graph(layer):
            yield from layers_of(layer)


def output_layers(model: keras.Model) -> Iterator[Node]:
    """Yield what makes the outputs of a model, and what moves their elements."""
    if isinstance(model, keras.Sequential):
        for layer in reversed(model.layers):
            yield from _last(layer)
            if not isinstance(layer, _MOVING):
                break
        return
    tensors = list(model.outputs)
    while tensors:
        operation, index, _ = tensors.pop()._keras_history
        yield from _last(operation)
        if isinstance(operation, _MOVING):
            tensors += operation._inbound_nodes[index].input_tensors


def _last(layer: Node) -> Iterator[Node]:
    yield layer
    if is_graph(layer):
        yield from output_layers(layer)
