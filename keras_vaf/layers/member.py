"""`Member`, which describes how the rest of the project uses an activation layer."""

from dataclasses import dataclass, field
from typing import Any

import keras

Row = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class Member:
    """An activation layer of this package, and how the rest of the project uses it.

    Attributes:
        layer: Class of the layer.
        name: Name on the command line. Layers without a name are left out of
            comparisons and searches.
        title: Name in tables and pictures.
        arguments: Arguments of the layer in comparisons, as JSON values.
        variants: Further rows of comparisons: the name, title and arguments of each.
        not_a_vaf: Reason why `keras_vaf.models.to_vaf` cannot convert the layer, or an
            empty string if it can.
    """

    layer: type[keras.layers.Layer]
    name: str = ""
    title: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    variants: tuple[Row, ...] = ()
    not_a_vaf: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Return the rows of comparisons: the name, title and arguments of each."""
        if not self.name:
            return ()
        return ((self.name, self.title, self.arguments), *self.variants)
