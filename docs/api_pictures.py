"""Puts the picture of each activation layer into its place in the reference."""

from typing import Any

import griffe


class Pictures(griffe.Extension):
    """Adds a picture to each activation layer's docstring, before the arguments."""

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        """Add the picture that `activation_pictures` draws."""
        formula, arguments, rest = _docstring(cls).partition("\nArgs:\n")
        if not cls.path.startswith("keras_vaf.layers.") or "Formula" not in formula:
            return
        address = f"../images/activations/{cls.name}.png"
        picture = f"![Plot of {cls.name}]({address})"
        cls.docstring.value = f"{formula}\n{picture}\n{arguments}{rest}"


def _docstring(cls: griffe.Class) -> str:
    return cls.docstring.value if cls.docstring else ""
