"""`Selection`, which selects layers of a model by name, class or function."""

import fnmatch
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import keras

from keras_vaf.models.surgery.graphs import Node, is_graph
from keras_vaf.utils import did_you_mean

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""


class Selection:
    """The layers that a user chose.

    Args:
        layers: A selector or a sequence of selectors; `None` selects all layers.

    Raises:
        ValueError: If `layers` is not one of these.
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
        """Return whether a layer is selected."""
        return any(_fits(selector, layer, path) for selector in self._selectors)

    def names(self, layer: Node, path: str) -> bool:
        """Return whether a layer is selected by its full name."""
        return layer.name in self._selectors or path in self._selectors

    def check(self, model: keras.Model, paths: Collection[str]) -> None:
        """Raise a `ValueError` for a name that does not match any layer.

        Args:
            model: The model.
            paths: Paths of layers inside other layers of the model.
        """
        names = [layer.name for _, layer in layers_of(model)]
        known = {*names, *paths, *(path for path, _ in layers_of(model))}
        for selector in self._selectors:
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}."
                    f"{did_you_mean(selector, names)} "
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
    """Yield the layers of a model and of its nested models, with their paths."""
    for layer in model.layers:
        path = f"{prefix}{layer.name}"
        yield path, layer
        if is_graph(layer):
            yield from layers_of(layer, f"{path}/")
