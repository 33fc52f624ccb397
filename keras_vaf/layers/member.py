"""`Member`, an activation layer and its use in the rest of the project."""

from dataclasses import dataclass, field
from typing import Any

import keras

Row = tuple[str, str, dict[str, Any]]


@dataclass(frozen=True)
class Member:
    """An activation layer of this package, and its use in the rest of the project.

    Attributes:
        layer: Class of the layer.
        name: Name on the command line. Layers without a name are not compared and not
            searched.
        title: Name in tables and pictures.
        arguments: Arguments of the layer in comparisons, as JSON can hold them.
        variants: Further rows of comparisons: name, title and arguments.
        cases: Arguments of the layers that the contract is tested on.
        picture: Arguments of the layer in its picture.
        spread: Standard deviation of the other weights that the picture shows.
        expanded: Whether the benchmark compares it with its usual implementation.
        not_a_vaf: Why `keras_vaf.models.to_vaf` refuses it; empty if it does not.
    """

    layer: type[keras.layers.Layer]
    name: str = ""
    title: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    variants: tuple[Row, ...] = ()
    cases: tuple[dict[str, Any], ...] = ({},)
    picture: dict[str, Any] = field(default_factory=dict)
    spread: float = 0.5
    expanded: bool = False
    not_a_vaf: str = ""

    @property
    def rows(self) -> tuple[Row, ...]:
        """Rows of comparisons: name, title and arguments."""
        if not self.name:
            return ()
        return ((self.name, self.title, self.arguments), *self.variants)
