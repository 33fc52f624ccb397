"""`Selection`, the layers of a model that a user chose."""

import fnmatch
from collections.abc import Callable, Collection, Sequence
from typing import Any

from keras_vaf.utils import did_you_mean

Selector = str | type | Callable[[Any], bool]
"""A name or pattern of names, a class of layers, or a function of a layer."""


class Selection:
    """The layers, or the modules of PyTorch, that a user chose by `layers`."""

    def __init__(self, layers: Selector | Sequence[Selector] | None) -> None:
        chosen: Any = layers if isinstance(layers, tuple | list) else [layers]
        self._selectors = chosen
        for each in self._selectors:
            if not (each is None or isinstance(each, str) or callable(each)):
                raise ValueError(
                    "`layers` must be names or patterns of names, classes of layers, "
                    f"or functions of a layer. Received: layers={layers!r}"
                )

    def takes(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected."""

        def fits(selector: Any) -> bool:
            if isinstance(selector, str):
                return fnmatch.fnmatchcase(path, selector)
            if isinstance(selector, type):
                return isinstance(layer, selector)
            return selector is None or bool(selector(layer))

        return self.names(layer, path) or any(map(fits, self._selectors))

    def names(self, layer: Any, path: str) -> bool:
        """Return whether a layer is selected by its name, or by its whole path."""
        # A module of PyTorch has a path only.
        return path in self._selectors or getattr(layer, "name", "") in self._selectors

    def check(self, names: Collection[str], paths: Collection[str]) -> None:
        """Raise an error for a selector that fits none of these names and paths."""
        for selector in self._selectors:
            known = {*names, *paths}
            if isinstance(selector, str) and not fnmatch.filter(known, selector):
                raise ValueError(
                    "`layers` does not match any layer of the model, which has "
                    f"{', '.join(names)}.{did_you_mean(selector, names)} "
                    f"Received: {selector!r}"
                )
