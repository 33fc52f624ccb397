"""`Selection`, which selects layers or modules by name, class or function."""

import fnmatch
from collections.abc import Callable, Collection, Sequence
from typing import Any

from keras_vaf.utils import did_you_mean

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""


class Selection:
    """The layers of a model, or the modules of a module of PyTorch, that a user chose.

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

    def takes(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected."""
        return any(_fits(selector, layer, path) for selector in self._selectors)

    def names(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected by its full name."""
        return path in self._selectors or _name(layer) in self._selectors

    def check(self, names: Collection[str], paths: Collection[str]) -> None:
        """Raise a `ValueError` for a name that does not match any layer.

        Args:
            names: Names of the layers, which the message lists.
            paths: Paths of layers.
        """
        known = {*names, *paths}
        for selector in self._selectors:
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}."
                    f"{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )


def _name(layer: Any) -> str:
    """Return the name of a layer; a module of PyTorch has a path only."""
    return str(getattr(layer, "name", ""))


def _fits(selector: Any, layer: Any, path: str) -> bool:
    if selector is None:
        return True
    if isinstance(selector, type):
        return isinstance(layer, selector)
    if not isinstance(selector, str):
        return bool(selector(layer))
    return _name(layer) == selector or fnmatch.fnmatchcase(path, selector)
