"""Which layers of a model are meant."""

import fnmatch
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras

from keras_vaf.models.surgery.cloning import Node, is_graph
from keras_vaf.utils import did_you_mean

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
        return any(_fits(selector, layer, path) for selector in self._selectors)

    def names(self, layer: Node, path: str) -> bool:
        """Tell whether a layer is chosen by its full name."""
        return layer.name in self._selectors or path in self._selectors

    def check(self, model: keras.Model) -> None:
        """Raise a `ValueError` for a name that fits no layer."""
        layers = list(layers_of(model))
        for selector in self._selectors:
            fitting = (_fits(selector, layer, path) for path, layer in layers)
            if isinstance(selector, str) and not any(fitting):
                names = [layer.name for _, layer in layers]
                raise ValueError(
                    "`layers` names no layer of the model, which has "
                    f"{', '.join(names)}.{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )


def _fits(selector: Any, layer: Node, path: str) -> bool:
    if selector is None:
        return True
    if isinstance(selector, type):
        return isinstance(layer, selector)
    if not isinstance(selector, str):
        return bool(selector(layer))
    return layer.name == selector or fnmatch.fnmatchcase(path, selector)


def layers_of(
    model: keras.Model, prefix: str = ""
) -> Iterator[tuple[str, keras.layers.Layer]]:
    """Yield the layers of a model and of the models inside it, with their paths."""
    for layer in model.layers:
        path = f"{prefix}{layer.name}"
        yield path, layer
        if is_graph(layer):
            yield from layers_of(layer, f"{path}/")


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
